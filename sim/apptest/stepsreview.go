package apptest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim"
)

// reviewedAt matches the line before a comment on lines in a section review/….
var reviewedAt = regexp.MustCompile(`^@ (\S+):(?:(\d+)-)?(\d+)$`)

// review submits the review that a section describes.
func (p *player) review(who string, pull int, state, section string) error {
	var body strings.Builder
	var lines []ghsim.ReviewLine
	for line := range strings.Lines(section) {
		if m := reviewedAt.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			first, _ := strconv.Atoi(m[2]) // empty: 0
			last, err := strconv.Atoi(m[3])
			if err != nil {
				return err
			}
			lines = append(lines, ghsim.ReviewLine{Path: m[1], First: first, Line: last})
			continue
		}
		if n := len(lines); n > 0 {
			lines[n-1].Body += line
			continue
		}
		body.WriteString(line)
	}
	for i := range lines {
		lines[i].Body = strings.TrimSpace(lines[i].Body)
	}
	return p.Sim.Review(Repo, pull, who, state, strings.TrimSpace(body.String()), lines...)
}

// thread answers in the first thread on a file.
func (p *player) thread(who string, pull int, path, body string) error {
	first, err := p.firstOn(pull, path)
	if err == nil {
		_, err = p.Sim.ReplyToReview(Repo, pull, who, first, body)
	}
	return err
}

// resolve resolves the first thread on a file, or reopens it.
func (p *player) resolve(who string, pull int, path string, again bool) error {
	first, err := p.firstOn(pull, path)
	if err != nil {
		return err
	}
	return p.Sim.ResolveThread(Repo, pull, who, first, again)
}

// firstOn is the first comment on a file of a pull request.
func (p *player) firstOn(pull int, path string) (int64, error) {
	v, err := p.Sim.Pull(Repo, pull)
	if err != nil {
		return 0, err
	}
	for _, c := range v.OnLines {
		if c.Path == path {
			return c.ID, nil
		}
	}
	return 0, fmt.Errorf("there is no thread on %s", path)
}

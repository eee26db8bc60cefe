package replay

import (
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/testrun"
)

// lineSieve filters commits of a language by the lines of their files, without comments and layout. It does not parse
// declarations, so it skips fewer commits than goSieve.
type lineSieve struct{ testrun.Language }

// missing implements sieve.
func (lineSieve) missing(testrun.Files, []string, testrun.ReadFile) map[string]string { return nil }

// idle finds commits with tests that only lost lines, and those that changed only comments and layout of code.
func (l lineSieve) idle(c candidate, _ split, was, _, after testrun.ReadFile) string {
	lost, same := true, true
	for _, f := range c.changes {
		before, now := l.lines(f.Path, was), l.lines(f.Path, after)
		switch {
		case l.IsTest(f.Path):
			lost = lost && within(now, before)
		case !l.IsManifest(f.Path) && !isProse(f.Path):
			same = same && slices.Equal(now, before)
		}
	}
	switch {
	case same:
		return sameCode
	case lost:
		return sameTests
	}
	return ""
}

// lines returns the significant lines of a file; none if there is no file.
func (l lineSieve) lines(p string, read testrun.ReadFile) (out []string) {
	src, err := read(p)
	if err != nil {
		return nil
	}
	comments := []string{"//", "/*", "* ", "*/"}
	if path.Ext(p) == ".py" {
		comments = []string{"#"}
	}
	for line := range strings.Lines(string(src)) {
		line = strings.TrimSpace(line)
		if line != "" && line != "*" && !slices.ContainsFunc(comments,
			func(c string) bool { return strings.HasPrefix(line, c) }) {
			out = append(out, line)
		}
	}
	return out
}

// within reports whether no line occurs more often than before.
func within(now, was []string) bool {
	left := map[string]int{}
	for _, line := range was {
		left[line]++
	}
	for _, line := range now {
		if left[line]--; left[line] < 0 {
			return false
		}
	}
	return true
}

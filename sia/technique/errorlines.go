package technique

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Words that carry an error, and words that only announce one.
var (
	strongError = lazyregexp.New(`(?i)\b(error|panic|exception|fatal|undefined|cannot|can't|could not|unable|` +
		`refused|denied|missing|not (set|found|defined|exist|allowed)|no such|expected|want(ed)?|got|assert\w*|unresolved|` +
		`mismatch|timed? ?out|invalid|unknown)\b`)
	codePlace = lazyregexp.New(`[\w/\\.-]+\.\w{1,6}[:(]\d+`)
	onlyFrame = lazyregexp.New(`(?i)^(=== |--- fail|--- ok|fail\b|ok\b|pass\b|exit (status|code)|` +
		`error: process completed|##\[|npm err! (code|errno|a complete)|make: \*\*\*|goroutine \d|at [\w.<>$]+ ?\(|` +
		`\d+ (passing|failing|passed|failed))`)
)

// ErrorLines are the lines of a log excerpt that say what is wrong: the n most telling ones, in the
// order of the log. When no line looks like an error it is the last line that is not empty.
func ErrorLines(excerpt string, n int) []string {
	type line struct {
		at, score int
		text      string
	}
	var lines []line
	last := ""
	for i, l := range strings.Split(excerpt, "\n") {
		l = strings.TrimSpace(l)
		if l == "" || strings.Trim(l, "-=_*#~^ ") == "" {
			continue
		}
		last = l
		score := 0
		if strongError.MatchString(l) {
			score += 2
		}
		if codePlace.MatchString(l) {
			score++
		}
		if onlyFrame.MatchString(l) {
			score -= 2
		}
		if score > 0 {
			lines = append(lines, line{i, score, l})
		}
	}
	if len(lines) == 0 && last != "" && n > 0 {
		return []string{last}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.score, a.score) })
	lines = lines[:min(len(lines), max(n, 0))]
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	var out []string
	for _, l := range lines {
		out = append(out, l.text)
	}
	return out
}

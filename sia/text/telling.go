package text

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Patterns of lines of a log that show an error.
var (
	causeWords = lazyregexp.New(`(?i)\b(panic|fatal|no module named|\w*exception|undefined|unresolved|missing|mismatch|` +
		`cannot|can't|could not|unable|not (set|found|defined|exist|allowed|implemented)|` +
		`no such|refused|denied|invalid|unknown|unexpected|timed? ?out)\b`)
	symptomWords = lazyregexp.New(`(?i)\b(\w*error|fail\w*|assert\w*|expected|want(ed)?|got|must|should)\b`)
	// filePlace matches a position in a file, as compilers and test runners print it.
	filePlace = lazyregexp.New(`(?:^|[\s("'\[])[\w./\\-]+\.\w+[:(]\d+`)
	// bareVerdict matches a line that only reports a failure without a cause, or the beginning or end of a step.
	bareVerdict = lazyregexp.New(`^(?:-+ |=+ |#+ )?(?:FAIL(?:ED|URE)?|ERROR|ok|panic)?\b[:\s]*(?:[\w./\-]*\s*` +
		`(?:\([\d.]+\s?m?s\)|[\d.]+\s?m?s)?|\[[^\]]*\])$|^(?i:=== |--- (?:fail|ok)|exit (?:status|code)|` +
		`(?:error: )?process completed with exit code|##\[|npm err! (?:code|errno|a complete)|make(?:\[\d+\])?: |` +
		`goroutine \d|at [\w.<>$]+ ?\(|\d+ (?:passing|failing|passed|failed))`)
)

// Telling returns at most n lines of a log's excerpt that are most informative about an error, in the order of the log,
// with white space as single spaces. If no line shows an error it returns the first that is not empty; nothing for an
// empty excerpt.
func Telling(excerpt string, n int) []string {
	type line struct {
		at, says int
		text     string
	}
	var lines []line
	for l := range strings.Lines(excerpt) {
		if l = OneLine(l); strings.Trim(l, "-=_*#~^ ") != "" {
			lines = append(lines, line{len(lines), score(l), l})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.says, a.says) })
	lines = lines[:min(len(lines), n)]
	for i, l := range lines {
		if i > 0 && l.says <= 0 {
			lines = lines[:i]
			break
		}
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	var out []string
	for _, l := range lines {
		out = append(out, l.text)
	}
	return out
}

// MostTelling returns the line of an excerpt that is most informative about an error; empty for an empty excerpt.
func MostTelling(excerpt string) string {
	return strings.Join(Telling(excerpt, 1), "")
}

// score rates how informative a line is about an error; 0: not at all; negative: it only reports a failure.
func score(l string) (points int) {
	if bareVerdict.MatchString(l) {
		return -1
	}
	switch {
	case causeWords.MatchString(l):
		points = 4
	case symptomWords.MatchString(l):
		points = 2
	}
	if filePlace.MatchString(l) {
		points++
	}
	if strings.HasPrefix(l, "E ") { // pytest's mark of an assertion message
		points += 2
	}
	return points
}

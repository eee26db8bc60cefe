package text

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// How a line of a log tells what is wrong.
var (
	causeWords = lazyregexp.New(`(?i)\b(panic|fatal|no module named|\w*exception|undefined|unresolved|missing|mismatch|` +
		`cannot|can't|could not|unable|not (set|found|defined|exist|allowed|implemented)|` +
		`no such|refused|denied|invalid|unknown|unexpected|timed? ?out)\b`)
	symptomWords = lazyregexp.New(`(?i)\b(\w*error|fail\w*|assert\w*|expected|want(ed)?|got|must|should)\b`)
	// A place in a file, as compilers and test runners print it.
	filePlace = lazyregexp.New(`(?:^|[\s("'\[])[\w./\\-]+\.\w+[:(]\d+`)
	// What only says that something has failed, or where a step begins or ends.
	bareVerdict = lazyregexp.New(`^(?:-+ |=+ |#+ )?(?:FAIL(?:ED|URE)?|ERROR|ok|panic)?\b[:\s]*(?:[\w./\-]*\s*` +
		`(?:\([\d.]+\s?m?s\)|[\d.]+\s?m?s)?|\[[^\]]*\])$|^(?i:=== |--- (?:fail|ok)|exit (?:status|code)|` +
		`(?:error: )?process completed with exit code|##\[|npm err! (?:code|errno|a complete)|make(?:\[\d+\])?: |` +
		`goroutine \d|at [\w.<>$]+ ?\(|\d+ (?:passing|failing|passed|failed))`)
)

// Telling are the lines of a log's excerpt that say most of what is wrong, n at most, in the order of the log, white
// space as single spaces. Where no line tells of an error it is the first that says anything, and nothing for an empty
// excerpt.
func Telling(excerpt string, n int) []string {
	type line struct {
		at, says int
		text     string
	}
	var lines []line
	for l := range strings.Lines(excerpt) {
		if l = OneLine(l); strings.Trim(l, "-=_*#~^ ") != "" {
			lines = append(lines, line{len(lines), says(l), l})
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

// MostTelling is the line of an excerpt that says most of what is wrong; empty for an empty excerpt.
func MostTelling(excerpt string) string {
	return strings.Join(Telling(excerpt, 1), "")
}

// says is how much a line tells of what is wrong; 0: nothing, less: that something is.
func says(l string) (points int) {
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
	if strings.HasPrefix(l, "E ") { // so pytest marks what an assertion says
		points += 2
	}
	return points
}

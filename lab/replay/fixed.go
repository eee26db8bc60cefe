package replay

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/testrun"
)

// positional matches names that the runner derives from a test's position among others of the same name: in another
// tree another test may have them.
var positional = regexp.MustCompile(`#\d+(/|$)`)

// fixedTests returns the tests that fail in every run before and pass in every run after: of nested
// tests only the innermost.
func fixedTests(before, after testrun.Report) (out []string) {
	fails := map[string]bool{}
	for test := range before.Runs[0] {
		if before.All(test, testrun.Failed) && after.All(test, testrun.Passed) && !positional.MatchString(test) {
			fails[test] = true
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(fails)), func(test string) bool {
		for other := range fails {
			if strings.HasPrefix(other, test+"/") {
				return true
			}
		}
		return false
	})
}

// maxPassing limits the number of tests that must continue to pass.
const maxPassing = 300

// stillPassing returns the outermost tests that pass in every run of both trees.
func stillPassing(before, after testrun.Report) (out []string) {
	for _, test := range slices.Sorted(maps.Keys(after.Runs[0])) {
		_, name, _ := strings.Cut(test, "::")
		if len(out) < maxPassing && before.All(test, testrun.Passed) && after.All(test, testrun.Passed) &&
			!strings.Contains(name, "/") && !positional.MatchString(test) {
			out = append(out, test)
		}
	}
	return out
}

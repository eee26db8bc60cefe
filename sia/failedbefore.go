package sia

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// FailedBefore returns the tests that failed in checks of earlier heads of the task, as the logs name them.
func (t *Task) FailedBefore() (tests []string) {
	for _, a := range t.Attempts {
		if a.Head == "" || a.Head == t.Head {
			continue
		}
		for _, f := range a.Failures {
			tests = append(tests, f.Tests...)
		}
	}
	slices.Sort(tests)
	return slices.Compact(tests)
}

var (
	// testFileName matches the name of a file, which a log may have in the place of its tests.
	testFileName = lazyregexp.New(`^[\w@./-]+\.(?:py|[cm]?[jt]sx?|go|rs|rb|java|kt|php|cs)$`)
	// testDetails matches what follows a test's name: parameters, its class, or a line.
	testDetails = lazyregexp.New(`(?:\s*\([\w.$]*\)|\[.*\]|:\d+)$`)
)

// ownName returns a test's name without its files, packages, suites, subtests and parameters, which runners and logs
// spell differently.
func ownName(test string) string {
	for was := ""; was != test; {
		was, test = test, testDetails.ReplaceAllString(test, "")
	}
	for _, sep := range []string{"::", " › ", " > ", "#"} {
		if i := strings.LastIndex(test, sep); i >= 0 {
			test = test[i+len(sep):]
		}
	}
	if strings.HasPrefix(test, "Test") {
		test, _, _ = strings.Cut(test, "/")
	}
	if !strings.Contains(test, " ") {
		test = test[strings.LastIndex(test, ".")+1:]
	}
	return test
}

// NamesTest reports whether a test file, with its text, is of one of the tests that logs name as failed.
func NamesTest(failed []string, file, text string) bool {
	return slices.ContainsFunc(failed, func(test string) bool {
		if testFileName.MatchString(test) {
			return isSameFile(test, file)
		}
		return hasWord(text, ownName(test))
	})
}

// isSameFile reports whether two paths, from different folders, may be of one file.
func isSameFile(a, b string) bool {
	a, b = "/"+strings.TrimLeft(a, "./"), "/"+strings.TrimLeft(b, "./")
	return strings.HasSuffix(a, b) || strings.HasSuffix(b, a)
}

// hasWord reports whether a text has a name that is no part of a longer one.
func hasWord(text, name string) bool {
	if name == "" {
		return false
	}
	inWord := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at+i])
		after, _ := utf8.DecodeRuneInString(text[at+i+len(name):])
		if !inWord(before) && !inWord(after) {
			return true
		}
		at += i + len(name)
	}
}

// separateRed moves the tests that failed in checks of earlier heads from Dropped to DroppedRed.
func (e *TestEvidence) separateRed(failed []string) {
	isRed := func(dropped string) bool {
		group, _, _ := strings.Cut(dropped, "::")
		name := " " + ownName(dropped)
		return slices.ContainsFunc(failed, func(test string) bool {
			if testFileName.MatchString(test) {
				return isSameFile(test, group)
			}
			return strings.HasSuffix(name, " "+ownName(test)) // of Node's tests the name begins with their suites
		})
	}
	var others []string
	for _, test := range e.Dropped {
		if isRed(test) {
			e.DroppedRed = append(e.DroppedRed, test)
		} else {
			others = append(others, test)
		}
	}
	e.Dropped = others
}

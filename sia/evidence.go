package sia

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

// TestEvidence is what running the tests that a change can reach has shown. Tests are named "group::name": the
// group is what the runner takes at once, as a package or a file, and the name is the runner's.
//
// A test's base version is the test as the base commit has it, run on the head's code. Flaky tests are no evidence:
// what does not come out alike twice is left out.
type TestEvidence struct {
	Head     SHA      `json:"head"`
	Base     SHA      `json:"base"`
	Language string   `json:"language,omitempty"` // several are separated by commas
	NotRun   string   `json:"not_run,omitempty"`  // why nothing could be run; empty: something was
	Left     []string `json:"left,omitempty"`     // groups that could not be run or were left out, with why, for people
	// changed files of tests that passed on the base, and pass at the head in their base version
	Files []string `json:"files,omitempty"`
	Tests int      `json:"tests,omitempty"` // that passed on the base and were looked at

	// groups that end at the head with success and without the runner's own last word, which they had on the base
	Early []string `json:"early,omitempty"`
	// groups that end at the head with success though tests fail, which they did not on the base
	Hushed []string `json:"hushed,omitempty"`
	// tests that passed on the base, do not run at the head, and do not pass there in their base version
	Gone []string `json:"gone,omitempty"`
	// tests that do not run at the head, and pass there in their base version
	Dropped []string `json:"dropped,omitempty"`
	// tests and groups that fail or can't be built at the head in their base version: behaviour changed
	Broken []string `json:"broken,omitempty"`
	// tests and groups that come out otherwise where nothing tells the code that it is tested
	Differs []string `json:"differs,omitempty"`
}

// AffectedTests are the results of the tests that an attempt's change can reach, run before it is pushed. They decide
// nothing: the coder is told once what fails with the change and not without it.
type AffectedTests struct {
	Ran    int      `json:"ran"`              // tests, the last time
	Failed []string `json:"failed,omitempty"` // as of TestEvidence, when the coder first said that it was done
	Told   bool     `json:"told,omitempty"`   // the coder was told of them, and went on
	Again  bool     `json:"again,omitempty"`  // it said once more that it was done, and the tests were run again
	Left   []string `json:"left,omitempty"`   // those that failed then
}

// Said says for people how many tests failed; empty: none did.
func (a *AffectedTests) Said() string {
	if a == nil || len(a.Failed) == 0 {
		return ""
	}
	said := text.Count(len(a.Failed), "test") + " failed before the push"
	switch {
	case a.Saved():
		said += ", none does now"
	case a.Again && len(a.Left) == 1:
		said += ", 1 still does"
	case a.Again:
		said += fmt.Sprintf(", %d still do", len(a.Left))
	}
	return said
}

// Saved reports whether a failure was mended before any check could see it.
func (a *AffectedTests) Saved() bool { return a != nil && a.Again && len(a.Left) == 0 }

// MaxEvidence bounds each list of a [TestEvidence].
const MaxEvidence = 60

// Asks are sentences, for people, about what the evidence says against a change. Those of broken can be right where
// the issue asks for other behaviour; those of firm can't.
func (e *TestEvidence) Asks() (firm, broken []string) {
	if e == nil || e.NotRun != "" {
		return nil, nil
	}
	firm = append(firm, about(e.Early, "ends before its tests have, with success; it did not on the base commit",
		"end before their tests have, with success; they did not on the base commit")...)
	firm = append(firm, about(e.Hushed, "ends with success though tests fail", "end with success though tests fail")...)
	firm = append(firm, about(e.Gone, "ran on the base commit and does not run now",
		"ran on the base commit and do not run now")...)
	firm = append(firm, about(e.Differs, "comes out otherwise where nothing tells the code that it is tested",
		"come out otherwise where nothing tells the code that it is tested")...)
	return firm, about(e.Broken, "of the base commit does not pass now", "of the base commit do not pass now")
}

// Shown are sentences, for people, that ask nobody.
func (e *TestEvidence) Shown() []string {
	if e == nil || e.NotRun != "" {
		return nil
	}
	return about(e.Dropped, "is gone or skipped; as the base commit has it, it passes",
		"are gone or skipped; as the base commit has them, they pass")
}

// Ran reports whether these runs say all of a changed file of tests: see Files.
func (e *TestEvidence) Ran(file string) bool {
	return e != nil && e.NotRun == "" && slices.Contains(e.Files, file)
}

// mostNamed is how many tests of a group a sentence names.
const mostNamed = 3

// about makes a sentence for each group of tests.
func about(tests []string, one, several string) (out []string) {
	byGroup := map[string][]string{}
	var groups []string
	for _, t := range tests {
		group, name, isTest := strings.Cut(t, "::")
		if !isTest {
			out = append(out, fmt.Sprintf("%s %s", code(group), one))
			continue
		}
		if byGroup[group] == nil {
			groups = append(groups, group)
		}
		byGroup[group] = append(byGroup[group], name)
	}
	for _, group := range groups {
		names := byGroup[group]
		said := one
		if len(names) > 1 {
			said = several
		}
		shown := make([]string, min(len(names), mostNamed))
		for i := range shown {
			shown[i] = code(names[i])
		}
		list := strings.Join(shown, ", ")
		if more := len(names) - len(shown); more > 0 {
			list += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, fmt.Sprintf("%s of %s %s", list, code(group), said))
	}
	return out
}

func code(s string) string { return "`" + strings.ReplaceAll(s, "`", "'") + "`" }

package sia

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

// TestEvidence contains the results of running the tests that a change can reach. Tests are named "group::name": the
// group is the unit that the runner runs, such as a package or a file, and the name is the runner's.
//
// A test's base version is the test of the base commit, run on the head's code. Flaky tests are no evidence: tests
// that do not have the same result twice are left out.
type TestEvidence struct {
	Head     SHA      `json:"head"`
	Base     SHA      `json:"base"`
	Language string   `json:"language,omitempty"` // separated by commas if there are several
	NotRun   string   `json:"not_run,omitempty"`  // why no test could be run; empty: tests were run
	Left     []string `json:"left,omitempty"`     // groups that were not run or left out, with the reason, for people
	// changed test files with tests that passed on the base, and pass at the head in their base version
	Files []string `json:"files,omitempty"`
	Tests int      `json:"tests,omitempty"` // number of compared tests that passed on the base

	// groups that exit with success at the head but without the runner's final line, which they had on the base
	Early []string `json:"early,omitempty"`
	// groups that exit with success at the head although tests fail, which they did not on the base
	Hushed []string `json:"hushed,omitempty"`
	// tests that fail at the head, and passed on the base or are new in a group that passed there
	Red []string `json:"red,omitempty"`
	// tests that passed on the base, do not run at the head, and do not pass there in their base version
	Gone []string `json:"gone,omitempty"`
	// tests that do not run at the head, and pass there in their base version
	Dropped []string `json:"dropped,omitempty"`
	// such tests that failed in a check of an earlier head of the task: they pass only where SIA runs them
	DroppedRed []string `json:"dropped_red,omitempty"`
	// tests and groups that pass at the head, or are gone, and fail or can't be built there in their base version:
	// behaviour changed
	Broken []string `json:"broken,omitempty"`
	// tests and groups that fail on the base, and at the head in their base version, but not as the change edited them
	Edited []string `json:"edited,omitempty"`
	// tests and groups with another result when the code can't detect that it is tested
	Differs []string `json:"differs,omitempty"`
	// other tests that fail at the head: they failed on the base as well, or their group is new
	Failing []string `json:"failing,omitempty"`
}

// AffectedTests are the results of the tests that an attempt's change can reach, run before it is pushed. They are not
// a verdict: the coder is shown once which tests fail with the change and not without it.
type AffectedTests struct {
	Ran    int      `json:"ran"`              // number of tests in the last run
	Failed []string `json:"failed,omitempty"` // tests, as in TestEvidence, that failed when the coder first finished
	Told   bool     `json:"told,omitempty"`   // the failures were sent to the coder, which continued
	Again  bool     `json:"again,omitempty"`  // the coder finished again, and the tests were run again
	Left   []string `json:"left,omitempty"`   // tests that failed in the second run
}

// Said describes for people how many tests failed; empty: none.
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

// Saved reports whether a failure was fixed before the push.
func (a *AffectedTests) Saved() bool { return a != nil && a.Again && len(a.Left) == 0 }

// MaxEvidence bounds each list of a [TestEvidence].
const MaxEvidence = 60

// Asks returns sentences, for people, about evidence against a change. Those in broken can be justified if the issue
// asks for other behaviour; those in firm can't.
func (e *TestEvidence) Asks() (firm, broken []string) {
	if e == nil || e.NotRun != "" {
		return nil, nil
	}
	firm = append(firm, sentences(e.Early, "ends before its tests have, with success; it did not on the base commit",
		"end before their tests have, with success; they did not on the base commit")...)
	firm = append(firm, sentences(e.Hushed, "ends with success though tests fail",
		"end with success though tests fail")...)
	firm = append(firm, sentences(e.Red, "fails now, and did not on the base commit",
		"fail now, and did not on the base commit")...)
	firm = append(firm, sentences(e.Gone, "ran on the base commit and does not run now",
		"ran on the base commit and do not run now")...)
	firm = append(firm, sentences(e.Differs, "comes out otherwise where nothing tells the code that it is tested",
		"come out otherwise where nothing tells the code that it is tested")...)
	broken = slices.Concat(
		sentences(e.Broken, "of the base commit does not pass now", "of the base commit do not pass now"),
		sentences(e.Edited, "fails on the base commit, and passes now only because its test was edited",
			"fail on the base commit, and pass now only because their tests were edited"),
		sentences(e.DroppedRed, "is gone or skipped, and failed in a check of an earlier commit",
			"are gone or skipped, and failed in a check of an earlier commit"))
	return firm, broken
}

// Shown returns sentences, for people, about evidence that needs no acceptance.
func (e *TestEvidence) Shown() []string {
	if e == nil || e.NotRun != "" {
		return nil
	}
	return sentences(e.Dropped, "is gone or skipped; as the base commit has it, it passes",
		"are gone or skipped; as the base commit has them, they pass")
}

// Contradicts returns sentences, for the reviewer, about tests that fail at the head without the change having broken
// them. Nobody is asked, since they may lack something that only the repository's checks have.
func (e *TestEvidence) Contradicts() []string {
	if e == nil || e.NotRun != "" {
		return nil
	}
	return sentences(e.Failing, "fails", "fail")
}

// Ran reports whether the evidence fully covers a changed test file: see Files.
func (e *TestEvidence) Ran(file string) bool {
	return e != nil && e.NotRun == "" && slices.Contains(e.Files, file)
}

// maxNamed is the maximum number of tests of a group that a sentence names.
const maxNamed = 3

// sentences returns a sentence for each group of tests.
func sentences(tests []string, one, several string) (out []string) {
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
		shown := make([]string, min(len(names), maxNamed))
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

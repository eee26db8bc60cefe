package tamper

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// FindingKind says in what way an attempt touched what validates it.
type FindingKind string

// The kinds of finding.
const (
	DeletedTest       FindingKind = "deleted-test"
	SkippedTest       FindingKind = "skipped-test"
	LoosenedAssertion FindingKind = "loosened-assertion"
	ChangedWorkflow   FindingKind = "workflow"
	DisabledCheck     FindingKind = "disabled-check-config"
	TouchedProtected  FindingKind = "protected-path"
	// ChangedExpectation is an assertion that says as much as before, but something
	// else: its expected value, or data or output that a test compares with.
	ChangedExpectation FindingKind = "changed-expectation"
	// ChangedUpkeep is a change of a workflow, or of what configures tests and linters,
	// with which no check goes away as far as its lines tell.
	ChangedUpkeep FindingKind = "upkeep"
)

const (
	maxFindings        = 200 // of one change set
	maxFindingsPerFile = 20
	maxFindingText     = 160 // runes of a quoted line
)

// Asked is who is asked first whether a finding is as it should be.
type Asked string

// The ones who are asked.
const (
	Person   Asked = "person"   // somebody with write access
	Reviewer Asked = "reviewer" // whether the issue asks for it; a person where it does not
)

// Finding is one change that lessens what the checks say.
type Finding struct {
	Kind FindingKind
	Path string
	Line int    // 1-based, in the new file; in the old one where the line is gone; 0: the file as a whole
	Text string // the line, trimmed and cut to 160 characters
	Why  string // what was done, for people
}

// Asks says who is asked: a reviewer can tell whether an expectation or upkeep is what the issue asks for.
func (f Finding) Asks() Asked {
	if f.Kind == ChangedExpectation || f.Kind == ChangedUpkeep {
		return Reviewer
	}
	return Person
}

// OfTests reports whether a finding is about what a test says, which running it shows better, and not about a path that
// is protected or about what configures checks.
func (f Finding) OfTests() bool {
	return slices.Contains([]FindingKind{DeletedTest, SkippedTest, LoosenedAssertion, ChangedExpectation}, f.Kind)
}

// String is "path:line: why: `text`".
func (f Finding) String() string {
	s := f.Path
	if f.Line > 0 {
		s += fmt.Sprintf(":%d", f.Line)
	}
	s += ": " + f.Why
	if f.Text != "" {
		s += ": `" + strings.ReplaceAll(f.Text, "`", "'") + "`"
	}
	return s
}

var located = lazyregexp.New(`^(.+?):([1-9][0-9]{0,6}): (.+)$`)

// Located reads a finding's [Finding.String] back: the line of a file that it is
// about, and what was done there. It is not ok when the finding is about no line.
func Located(finding string) (path string, line int, what string, ok bool) {
	m := located.FindStringSubmatch(finding)
	if m == nil {
		return "", 0, "", false
	}
	line, err := strconv.Atoi(m[2])
	return m[1], line, m[3], err == nil
}

// bounded sorts the findings, keeps one for each line and cuts what is too much. What
// asks a person is kept before what asks the reviewer.
func bounded(all []Finding) []Finding {
	byLine := func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line)) }
	byAsked := func(a, b Finding) int { return cmp.Compare(a.Asks(), b.Asks()) }
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Or(byLine(a, b), byAsked(a, b)) })
	all = slices.CompactFunc(all, func(a, b Finding) bool { return byLine(a, b) == 0 })
	slices.SortStableFunc(all, byAsked)
	var out []Finding
	kept, left := map[string]int{}, map[string]int{} // by their paths
	for _, f := range all {
		if kept[f.Path] == maxFindingsPerFile || len(out) == maxFindings {
			left[f.Path]++
			continue
		}
		kept[f.Path]++
		out = append(out, f)
	}
	slices.SortStableFunc(out, byLine)
	for i := range out {
		if n := left[out[i].Path]; n > 0 && (i+1 == len(out) || out[i+1].Path != out[i].Path) {
			out[i].Why += fmt.Sprintf(" (and %d more like it)", n)
		}
	}
	return out
}

// quoted is a line as a finding shows it.
func quoted(line string) string {
	line = strings.Join(strings.Fields(strings.ToValidUTF8(line, "\uFFFD")), " ")
	if r := []rune(line); len(r) > maxFindingText {
		return string(r[:maxFindingText-1]) + "…"
	}
	return line
}

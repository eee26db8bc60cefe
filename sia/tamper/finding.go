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
	EmptiedTest       FindingKind = "emptied-test"
	LoosenedAssertion FindingKind = "loosened-assertion"
	ChangedWorkflow   FindingKind = "workflow"
	DisabledCheck     FindingKind = "disabled-check-config"
	TouchedProtected  FindingKind = "protected-path"
	// ChangedExpectation is an assertion that says as much as before, but something
	// else: its expected value, or data or output that a test compares with.
	ChangedExpectation FindingKind = "changed-expectation"
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

// Asks says who is asked about a finding. An expectation that changed in its
// place may be what the issue asks for, which a reviewer can tell.
func (f Finding) Asks() Asked {
	if f.Kind == ChangedExpectation {
		return Reviewer
	}
	return Person
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
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Or(byLine(a, b), cmp.Compare(a.Asks(), b.Asks())) })
	all = slices.CompactFunc(all, func(a, b Finding) bool { return byLine(a, b) == 0 })
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Asks(), b.Asks()))
	})
	if i := slices.IndexFunc(all, func(f Finding) bool { return f.Asks() == Person }); i > 0 && len(all) > maxFindings {
		all[0], all[i] = all[i], all[0] // it must not be among those that are cut
	}
	var out []Finding
	inFile, left := 0, 0
	more := func() {
		if left > 0 {
			out[len(out)-1].Why += fmt.Sprintf(" (and %d more like it)", left)
		}
		left = 0
	}
	for i, f := range all {
		if i > 0 && all[i-1].Path != f.Path {
			more()
			inFile = 0
		}
		if inFile == maxFindingsPerFile || len(out) == maxFindings {
			left++
			continue
		}
		inFile++
		out = append(out, f)
	}
	more()
	slices.SortStableFunc(out, byLine)
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

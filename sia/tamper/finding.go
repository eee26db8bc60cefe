package tamper

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// FindingKind is the way in which an attempt weakens its validation.
type FindingKind string

// The kinds of finding.
const (
	DeletedTest       FindingKind = "deleted-test"
	SkippedTest       FindingKind = "skipped-test"
	LoosenedAssertion FindingKind = "loosened-assertion"
	ChangedWorkflow   FindingKind = "workflow"
	DisabledCheck     FindingKind = "disabled-check-config"
	TouchedProtected  FindingKind = "protected-path"
	// ChangedExpectation is an assertion that is as strict as before but different: its expected value, or data or output
	// that a test compares with.
	ChangedExpectation FindingKind = "changed-expectation"
	// ChangedUpkeep is a change of a workflow or of the configuration of tests and linters that does not seem to disable
	// a check.
	ChangedUpkeep FindingKind = "upkeep"
)

const (
	maxFindings        = 200 // per change set
	maxFindingsPerFile = 20
)

// Asked is who is asked first whether a finding is acceptable.
type Asked string

// The values of Asked.
const (
	Person   Asked = "person"   // a user with write access
	Reviewer Asked = "reviewer" // the reviewer, whether the issue asks for it; a person if it does not
)

// Finding is one change that weakens the checks.
type Finding struct {
	Kind FindingKind
	Path string
	Line int    // 1-based, in the new file, or in the old one for a removed line; 0: the whole file
	Text string // the line, trimmed and truncated to 160 characters
	Why  string // description of the change, for display
}

// Asks returns who is asked. The reviewer can decide whether the issue asks for a changed expectation or for upkeep.
func (f Finding) Asks() Asked {
	if f.Kind == ChangedExpectation || f.Kind == ChangedUpkeep {
		return Reviewer
	}
	return Person
}

// OfTests reports whether a finding is about the content of a test, which running it shows better, and not about a
// protected path or the configuration of checks.
func (f Finding) OfTests() bool {
	return slices.Contains([]FindingKind{DeletedTest, SkippedTest, LoosenedAssertion, ChangedExpectation}, f.Kind)
}

// String returns "path:line: why: `text`".
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

// Located parses the result of [Finding.String]. ok is false when the finding is not about a line.
func Located(finding string) (path string, line int, what string, ok bool) {
	m := located.FindStringSubmatch(finding)
	if m == nil {
		return "", 0, "", false
	}
	line, err := strconv.Atoi(m[2])
	return m[1], line, m[3], err == nil
}

// bounded sorts the findings, keeps one per line and limits their number. Findings for a person are kept in preference
// to those for the reviewer.
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

// quoted returns a line for a finding, of at most 160 runes.
func quoted(line string) string { return text.Clip(text.OneLine(line), 160) }

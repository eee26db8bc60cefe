package gate

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Change is one file that differs between the base commit and the head.
type Change struct {
	Path    string // on the head; of a deleted file, on the base
	OldPath string // where a renamed file was
	Status  string // added, modified, deleted or renamed
	Hunks   []Hunk
	Old     string // the file's text on the base, where known; without it only the hunks' context is
	Opaque  bool   // the content differs, but the hunks don't say how: binary or too large
}

// Hunk is a run of changed lines with unchanged ones around it.
type Hunk struct {
	OldStart, NewStart int      // 1-based
	Lines              []string // without newline, after ' ', '+' or '-'
}

// FindingKind says in what way an attempt touched what validates it.
type FindingKind string

// The kinds of finding.
const (
	DeletedTest        FindingKind = "deleted-test"
	SkippedTest        FindingKind = "skipped-test"
	EmptiedTest        FindingKind = "emptied-test"
	LoosenedAssertion  FindingKind = "loosened-assertion"
	ChangedWorkflow    FindingKind = "workflow"
	DisabledCheck      FindingKind = "disabled-check-config"
	TouchedProtected   FindingKind = "protected-path"
	maxFindings                    = 200 // of one change set
	maxFindingsPerFile             = 20
	maxFindingText                 = 160 // runes of a quoted line
)

// Finding is one change that lessens what the checks say.
type Finding struct {
	Kind FindingKind
	Path string
	Line int    // 1-based, in the new file; in the old one where the line is gone; 0: the file as a whole
	Text string // the line, trimmed and cut to 160 characters
	Why  string // what was done, for people
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

// touched begins the sentence of [Result.Explain] about a finding.
const touched = "The attempt changed what validates it: "

var located = regexp.MustCompile(`^(.+?):([1-9][0-9]{0,6}): (.+)$`)

// Located reads a sentence of [Result.Explain] back: the line of a file that it
// is about, and what was done there. It is not ok when the sentence is about
// something else, or about no line.
func Located(sentence string) (path string, line int, what string, ok bool) {
	rest, ok := strings.CutPrefix(sentence, touched)
	m := located.FindStringSubmatch(rest)
	if !ok || m == nil {
		return "", 0, "", false
	}
	line, err := strconv.Atoi(m[2])
	return m[1], line, strings.TrimSuffix(m[3], "."), err == nil
}

// Tampering lists what a change did to the tests, the configuration of checks,
// the workflows and the protected paths, which are doublestar globs
// (https://github.com/bmatcuk/doublestar). Sorted by path and line, at most 200.
//
// Tests may be added freely. A test that is deleted here and added elsewhere has
// moved; a file that was renamed from one place of tests to another, too.
// Reading is by lines and tokens, not by a compiler: it errs towards reporting,
// because a person who looks at a harmless line loses a minute, and nobody
// looks at one that is not reported.
func Tampering(changes []Change, protected []string) []Finding {
	out := tests(changes)
	for i := range changes {
		c := &changes[i]
		out = append(out, c.config()...)
		out = append(out, c.workflow()...)
		out = append(out, c.expectedOutput()...)
		out = append(out, c.protectedBy(protected)...)
	}
	return bounded(out)
}

// ReadsOld reports whether [Change.Old] would help to understand a change: it is
// of a file of tests, or of one that configures checks.
func ReadsOld(c Change) bool {
	r := roleOf(c.before())
	return c.Status != "added" && c.Status != "deleted" && len(c.Hunks) > 0 && (r.test || r.maybe || r.config)
}

// Validates reports whether a change is of something that validates attempts:
// tests and their data, expected output, the configuration of checks and
// workflows, or a path that one of the protected globs covers.
func Validates(c Change, protected []string) bool {
	for _, p := range []string{c.Path, c.before()} {
		r := roleOf(p)
		if r.test || r.ci || r.config || r.golden || r.fixture {
			return true
		}
	}
	return len(c.protectedBy(protected)) > 0
}

// bounded sorts the findings, keeps one for each line and cuts what is too much.
func bounded(all []Finding) []Finding {
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line)) })
	all = slices.CompactFunc(all, func(a, b Finding) bool { return a.Path == b.Path && a.Line == b.Line })
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

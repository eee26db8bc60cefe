package tamper

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/glob"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// Change is one file that differs between the base commit and the head.
type Change struct {
	Path    string // path on the head; for a deleted file, on the base
	OldPath string // old path of a renamed file
	Status  string // added, modified, deleted or renamed
	Hunks   []Hunk
	Old     string // text of the file on the base; if empty, only the hunks are read
	// the content differs, but the hunks are missing, or not to be compared: binary or too large
	Opaque   bool
	Runs     bool // a workflow of the base runs it
	LostExec bool // it was executable, and is not any more
}

// Hunk is a run of changed lines with unchanged ones around it.
type Hunk struct {
	OldStart, NewStart int      // 1-based
	Lines              []string // without newline, after ' ', '+' or '-'
}

// Find returns the findings of a change set: about tests, the configuration of checks, workflows and protected paths.
// protected are the repository's globs: a person is asked about any change. everywhere are globs that are protected in
// all repositories: the reviewer is asked about upkeep of workflows. The result is sorted by path and line and has at
// most 200 findings.
func Find(changes []Change, protected []string, everywhere ...string) []Finding {
	moved := removed(changes)
	out := slices.Concat(tests(changes, moved), settings(changes))
	named, always := newGuard(protected), newGuard(everywhere)
	for i := range changes {
		c := &changes[i]
		out = append(out, slices.Concat(c.product(moved), c.writesTests(moved), c.expectedOutput(), c.protectedBy(named))...)
		out = append(out, c.disguised()...)
		if !roleOf(c.Path).ci {
			out = append(out, c.protectedBy(always)...)
		}
	}
	return bounded(out)
}

var (
	// disguise matches characters that end or hide code for some readers only: control characters, and line ends within a
	// line. asLetters matches a name with a letter that Python reads as one of ASCII (NFKC).
	disguise  = lazyregexp.New(`[\x00-\x08\x0b\x0e-\x1f\x7f-\x{9f}\x{2028}\x{2029}]|.\x0c|\r[^\r]`)
	asLetters = lazyregexp.New(`[A-Za-z_.]` + wide + `|` + wide + `[A-Za-z_.(\[]|` + raised + `[A-Za-z_]|\.\w+` + raised)
	generated = lazyregexp.New(`(?i)[._-](?:min|bundle|pb|g|gen|generated)\.\w+$|_pb2|(?:^|/)(?:dist|vendor|generated)/`)
)

const (
	wide = `[\x{17f}\x{2102}\x{210a}-\x{2115}\x{2118}-\x{211d}\x{2124}\x{2128}-\x{2139}\x{2145}-\x{2149}` +
		`\x{2160}-\x{217f}\x{fb00}-\x{fb06}\x{ff21}-\x{ff3a}\x{ff3f}\x{ff41}-\x{ff5a}\x{1d400}-\x{1d7ff}]`
	raised = `[\x{aa}\x{ba}\x{2b0}-\x{2b8}\x{2e1}-\x{2e3}\x{1d2c}-\x{1d6a}\x{1d9c}-\x{1dbb}\x{2071}\x{207f}` +
		`\x{2090}-\x{209c}]`
)

// disguised reports an added line of code that people and tools don't read as the language does, and a test or what
// runs tests that is not executable any more.
func (c *Change) disguised() []Finding {
	r := roleOf(c.Path)
	if c.LostExec && (c.Runs || roleOf(c.before()).validates()) {
		return []Finding{{Kind: DisabledCheck, Path: c.Path, Why: "what tests or runs tests can't be executed any more"}}
	}
	if r.lang == nil || r.fixture || r.golden || c.Status == "deleted" || generated.MatchString(c.Path) {
		return nil
	}
	_, rows := c.sides()
	strip := stripper{lang: r.lang}
	for _, row := range rows {
		if _, bare := strip.strip(row.raw); !row.unchanged &&
			(disguise.MatchString(row.raw) || r.lang == &python && asLetters.MatchString(bare)) {
			return []Finding{{SkippedTest, c.Path, row.n, quoted(row.raw), "the line has characters that hide what it does"}}
		}
	}
	return nil
}

// ReadsOld reports whether [Change.Old] would improve the analysis of a change: it is of a test file, or of a file that
// configures checks or CI.
func ReadsOld(c Change) bool {
	r := roleOf(c.before())
	return c.Status != "added" && c.Status != "deleted" && len(c.Hunks) > 0 && !c.Opaque &&
		(r.test || r.maybe || r.config || r.ci || c.Runs)
}

// Validating returns a function that reports whether a change is of a file that validates attempts: tests and their
// data, expected output, the configuration of checks and workflows, or a path that a protected glob matches.
func Validating(protected []string) func(Change) bool {
	guarded := newGuard(protected)
	return func(c Change) bool {
		return roleOf(c.Path).validates() || roleOf(c.before()).validates() || guarded.covers(&c)
	}
}

// before returns the path on the base.
func (c *Change) before() string { return cmp.Or(c.OldPath, c.Path) }

// places returns one finding per hunk, at its first changed line.
func (c *Change) places(kind FindingKind, why string) []Finding {
	var out []Finding
	for _, h := range c.Hunks {
		old, new := (&Change{Hunks: []Hunk{h}}).sides()
		for _, r := range append(new, old...) {
			if !r.unchanged && strings.TrimSpace(r.raw) != "" {
				out = append(out, Finding{kind, c.Path, r.n, quoted(r.raw), why})
				break
			}
		}
	}
	if out == nil {
		out = []Finding{{Kind: kind, Path: c.Path, Why: why}}
	}
	return out
}

// expectedOutput reports changes of expected output: existing golden files and snapshots, and changed or removed test
// data.
func (c *Change) expectedOutput() []Finding {
	r := roleOf(c.before())
	if !r.golden && !r.fixture || c.Status == "added" {
		return nil
	}
	what := map[bool]string{true: "an expected output was changed", false: "data that tests read was changed"}[r.golden]
	some := *c
	some.Hunks = slices.DeleteFunc(slices.Clone(c.Hunks), func(h Hunk) bool {
		// Additions are data of new tests, except in golden files. There, Jest and Vitest begin a snapshot of a new test
		// with a line of its own.
		has := func(begin string) bool {
			return slices.ContainsFunc(h.Lines, func(l string) bool { return strings.HasPrefix(l, begin) })
		}
		return !has("-") && (!r.golden || has("+exports[`"))
	})
	if len(some.Hunks) == 0 && c.Status != "deleted" && !c.Opaque {
		return nil
	}
	return some.places(ChangedExpectation, what)
}

// guard is a list of matchers of protected paths.
type guard []func(string) bool

func newGuard(globs []string) guard {
	var out guard
	for _, g := range globs {
		g = strings.TrimPrefix(strings.TrimPrefix(g, "./"), "/")
		if strings.HasSuffix(g, "/") {
			g += "**" // a folder
		}
		match := func(p string) bool { return p == g } // an invalid glob can be a path
		if c, err := glob.Compile(g); err == nil {
			match = c.Match
		}
		out = append(out, match)
	}
	return out
}

// covers reports whether a glob matches the path of a change.
func (g guard) covers(c *Change) bool {
	return slices.ContainsFunc(g, func(match func(string) bool) bool { return match(c.Path) || match(c.before()) })
}

// protectedBy reports any change of a protected path.
func (c *Change) protectedBy(g guard) []Finding {
	if !g.covers(c) {
		return nil
	}
	if c.Status == "added" {
		return c.places(TouchedProtected, "a file was added to a protected path")[:1]
	} else if c.Status == "deleted" {
		return []Finding{{Kind: TouchedProtected, Path: c.Path, Why: "a protected file was deleted"}}
	}
	return c.places(TouchedProtected, "a protected file was changed or renamed")
}

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

const maxFindings, maxFindingsPerFile = 200, 20 // per change set, and per file

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

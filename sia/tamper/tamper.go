package tamper

import (
	"cmp"
	"slices"
	"strings"
)

// Change is one file that differs between the base commit and the head.
type Change struct {
	Path    string // path on the head; for a deleted file, on the base
	OldPath string // old path of a renamed file
	Status  string // added, modified, deleted or renamed
	Hunks   []Hunk
	Old     string // text of the file on the base; if empty, only the hunks are read
	Opaque  bool   // the content differs, but the hunks are missing: binary or too large
	Runs    bool   // a workflow of the base runs it
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
		if !roleOf(c.Path).ci {
			out = append(out, c.protectedBy(always)...)
		}
	}
	return bounded(out)
}

// ReadsOld reports whether [Change.Old] would improve the analysis of a change: it is of a test file, or of a file that
// configures checks or CI.
func ReadsOld(c Change) bool {
	r := roleOf(c.before())
	return c.Status != "added" && c.Status != "deleted" && len(c.Hunks) > 0 &&
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

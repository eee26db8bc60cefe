package tamper

import (
	"slices"
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

// Find lists what a change set did to the tests, the configuration of checks, the workflows and the protected paths:
// globs that a repository names, and of which any change asks a person, and those that are protected everywhere,
// where upkeep of workflows asks the reviewer. Sorted by path and line, at most 200.
func Find(changes []Change, protected []string, everywhere ...string) []Finding {
	out := slices.Concat(tests(changes), settings(changes), unlisted(changes))
	named, always := newGuard(protected), newGuard(everywhere)
	moved := removed(changes)
	for i := range changes {
		c := &changes[i]
		out = append(out, c.product(moved)...)
		out = append(out, c.writesTests(moved)...)
		out = append(out, c.expectedOutput()...)
		out = append(out, c.protectedBy(named)...)
		if !roleOf(c.Path).ci {
			out = append(out, c.protectedBy(always)...)
		}
	}
	return bounded(out)
}

// ReadsOld reports whether [Change.Old] would help to understand a change: it is
// of a file of tests, or of one that configures checks or CI.
func ReadsOld(c Change) bool {
	r := roleOf(c.before())
	return c.Status != "added" && c.Status != "deleted" && len(c.Hunks) > 0 && (r.test || r.maybe || r.config || r.ci)
}

// Validating tells which changes are of something that validates attempts: tests and their data, expected output, the
// configuration of checks and workflows, or a path that one of the protected globs covers.
func Validating(protected []string) func(Change) bool {
	guarded := newGuard(protected)
	return func(c Change) bool {
		return roleOf(c.Path).validates() || roleOf(c.before()).validates() || guarded.covers(&c)
	}
}

// before is the path on the base.
func (c *Change) before() string {
	if c.OldPath != "" {
		return c.OldPath
	}
	return c.Path
}

// places has one finding for each hunk, at its first changed line.
func (c *Change) places(kind FindingKind, why string) []Finding {
	var out []Finding
	for _, h := range c.Hunks {
		old, new := (&Change{Hunks: []Hunk{h}}).sides()
		for _, r := range append(new, old...) {
			if !r.fixed && strings.TrimSpace(r.raw) != "" {
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

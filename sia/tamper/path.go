package tamper

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/glob"
)

// expectedOutput reports changes of what tests compare with: golden files and
// snapshots that were there before, and data of tests that was changed or taken out.
func (c *Change) expectedOutput() []Finding {
	r := roleOf(c.before())
	if !r.golden && !r.fixture || c.Status == "added" {
		return nil
	}
	what := "data that tests read was changed"
	if r.golden {
		what = "an expected output was changed"
	}
	switch {
	case c.Status == "deleted":
		return []Finding{{Kind: LoosenedAssertion, Path: c.Path, Why: strings.Replace(what, "changed", "deleted", 1)}}
	case c.Opaque:
		return []Finding{{Kind: ChangedExpectation, Path: c.Path, Why: what}}
	}
	var out []Finding
	for _, h := range c.Hunks {
		f, removes := h.first(func(l string) bool { return l[0] == '-' })
		added, _ := h.first(func(l string) bool { return l[0] == '+' && strings.TrimSpace(l[1:]) != "" })
		switch {
		case removes:
			if added.Line > 0 {
				f = added
			}
		case (r.golden || r.named) && !newSnapshot(added.Text): // or tests of tests
			f = added
		default:
			continue
		}
		out = append(out, Finding{ChangedExpectation, c.Path, f.Line, f.Text, what})
	}
	return out
}

// newSnapshot reports whether a line begins a snapshot of its own, as Jest's and
// Vitest's files have one for each test.
func newSnapshot(line string) bool { return strings.HasPrefix(line, "exports[`") }

// guard are globs of protected paths.
type guard []func(string) bool

func newGuard(globs []string) guard {
	var out guard
	for _, g := range globs {
		g = strings.TrimPrefix(strings.TrimPrefix(g, "./"), "/")
		if strings.HasSuffix(g, "/") {
			g += "**" // a folder
		}
		if c, err := glob.Compile(g); err == nil {
			out = append(out, c.Match)
		} else { // what is no glob can be a path
			out = append(out, func(p string) bool { return p == g })
		}
	}
	return out
}

// covers reports whether a change is of a path that a glob covers.
func (g guard) covers(c *Change) bool {
	return slices.ContainsFunc(g, func(match func(string) bool) bool { return match(c.Path) || match(c.before()) })
}

// protectedBy reports any change of a protected path.
func (c *Change) protectedBy(g guard) []Finding {
	if !g.covers(c) {
		return nil
	}
	switch c.Status {
	case "added":
		return c.places(TouchedProtected, "a file was added to a protected path")[:1]
	case "deleted":
		return []Finding{{Kind: TouchedProtected, Path: c.Path, Why: "a protected file was deleted"}}
	}
	return c.places(TouchedProtected, "a protected file was changed or renamed")
}

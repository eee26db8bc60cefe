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
	what := map[bool]string{true: "an expected output was changed", false: "data that tests read was changed"}[r.golden]
	some := *c
	some.Hunks = slices.DeleteFunc(slices.Clone(c.Hunks), func(h Hunk) bool {
		// What is added is data of new tests, but in expected output, where Jest and Vitest
		// begin a snapshot of a new test with a line of its own.
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

// guard are globs of protected paths.
type guard []func(string) bool

func newGuard(globs []string) guard {
	var out guard
	for _, g := range globs {
		g = strings.TrimPrefix(strings.TrimPrefix(g, "./"), "/")
		if strings.HasSuffix(g, "/") {
			g += "**" // a folder
		}
		match := func(p string) bool { return p == g } // what is no glob can be a path
		if c, err := glob.Compile(g); err == nil {
			match = c.Match
		}
		out = append(out, match)
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
	if c.Status == "added" {
		return c.places(TouchedProtected, "a file was added to a protected path")[:1]
	} else if c.Status == "deleted" {
		return []Finding{{Kind: TouchedProtected, Path: c.Path, Why: "a protected file was deleted"}}
	}
	return c.places(TouchedProtected, "a protected file was changed or renamed")
}

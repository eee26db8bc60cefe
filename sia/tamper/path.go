package tamper

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/glob"
)

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

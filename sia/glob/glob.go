// Package glob matches paths with untrusted globs. The syntax is that of doublestar
// (https://github.com/bmatcuk/doublestar). Globs that would take long to match are rejected:
// doublestar tries each combination of alternatives, in time linear in the glob and the path.
package glob

import (
	"fmt"
	"path"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds of a glob.
const (
	maxBytes        = 1000
	maxAlternatives = 100 // combinations of alternatives in braces
)

// A Glob is a compiled glob. The zero value matches no path. It is safe for concurrent use.
type Glob struct{ pattern string }

// Compile parses a glob: * ? [a-z] [!a-z] {a,b} and ** for any number of folders; a
// backslash escapes the next character. The error is path.ErrBadPattern if the syntax
// is invalid, and another one if the glob is too large.
func Compile(glob string) (Glob, error) {
	switch {
	case len(glob) > maxBytes || alternatives(glob) > maxAlternatives:
		return Glob{}, fmt.Errorf("a pattern has at most %d bytes and %d alternatives", maxBytes, maxAlternatives)
	case !doublestar.ValidatePattern(glob):
		return Glob{}, path.ErrBadPattern
	}
	return Glob{glob}, nil
}

// Match reports whether the glob matches a path with slashes between its folders.
func (g Glob) Match(p string) bool {
	return g.pattern != "" && doublestar.MatchUnvalidated(g.pattern, p)
}

// alternatives returns an upper bound of the number of globs without braces to which a glob expands, unless it exceeds
// maxAlternatives.
func alternatives(glob string) int {
	all, class := 1, false
	var open []int // number of alternatives in each open brace
	for i := 0; i < len(glob) && all <= maxAlternatives; i++ {
		switch c := glob[i]; {
		case c == '\\':
			i++
		case c == ',' && len(open) > 0:
			open[len(open)-1]++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '{':
			open = append(open, 1)
		case c == '}' && len(open) > 0:
			all *= open[len(open)-1]
			open = open[:len(open)-1]
		}
	}
	return all
}

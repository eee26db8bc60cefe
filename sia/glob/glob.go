// Package glob matches paths with globs that strangers write. A glob means what doublestar
// (https://github.com/bmatcuk/doublestar) takes it for, and is refused where that would take
// long: it tries each combination of alternatives, in time linear in the glob and the path.
// It imports nothing of ours.
package glob

import (
	"fmt"
	"path"

	"github.com/bmatcuk/doublestar/v4"
)

// What bounds a glob.
const (
	maxBytes        = 1000
	maxAlternatives = 100 // combinations of those within braces
)

// A Glob tells which paths it means. The zero value means none. Safe for concurrent use.
type Glob struct{ pattern string }

// Compile reads a glob: * ? [a-z] [!a-z] {a,b} and ** for any number of folders; a
// backslash takes the next character as it is. It is path.ErrBadPattern when it is no
// glob, and an error when it is too large.
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

// alternatives is at least how many globs without braces a glob stands for, where these are not too many.
func alternatives(glob string) int {
	all, class := 1, false
	var open []int // alternatives within each of the braces that are open
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

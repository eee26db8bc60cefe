package locate

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/tool/symbol"
	"github.com/sia-bot/sia/sia/tamper"
)

// Bounds of a tree.
const (
	mostRead  = 10_000   // source files that are read
	mostBytes = 96 << 20 // of all files that are read
	maxFile   = 512 << 10
)

// layout is what the names of a tree's files tell.
type layout struct {
	sizes  map[string]int64
	all    []string            // in order
	code   []string            // source files that are no tests, in order
	tested []string            // source files of tests, in order
	byBase map[string][]string // files by the last part of their path
	stems  map[string][]string // code by its name without an end, in one spelling
}

// readLayout sorts the files of a tree.
func readLayout(ctx context.Context, tree Tree) (*layout, error) {
	files, err := tree.Files(ctx)
	if err != nil {
		return nil, err
	}
	l := &layout{sizes: map[string]int64{}, byBase: map[string][]string{}}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range files {
		if isForeign(f.Path) {
			continue
		}
		l.all = append(l.all, f.Path)
		l.sizes[f.Path] = f.Size
		base := path.Base(f.Path)
		l.byBase[base] = append(l.byBase[base], f.Path)
		switch {
		case !symbol.Knows(f.Path):
		case isTest(f.Path):
			l.tested = append(l.tested, f.Path)
		default:
			l.code = append(l.code, f.Path)
		}
	}
	return l, nil
}

func (l *layout) has(p string) bool { _, ok := l.sizes[p]; return ok }

// isCode reports whether a file is one in which a fault can lie.
func isCode(p string) bool { return symbol.Knows(p) && !isTest(p) && !isForeign(p) }

// IsCandidate reports whether the sources vote for a file of this path: it is source code, no test, and not somebody
// else's.
func IsCandidate(p string) bool { return isCode(p) }

// isTest reports whether a file belongs to tests. Sources of Rust may hold tests among other code, and are no tests.
func isTest(p string) bool {
	return tamper.IsTest(p) && (path.Ext(p) != ".rs" || slices.Contains(strings.Split(path.Dir(p), "/"), "tests"))
}

// IsForeign reports whether a folder of this name holds other people's code, or what a program made.
func IsForeign(folder string) bool {
	switch folder {
	case "node_modules", "vendor", "third_party", "dist", "__pycache__":
		return true
	}
	return false
}

// isForeign reports whether a file is other people's code, or made by a program.
func isForeign(p string) bool {
	name := path.Base(p)
	return slices.ContainsFunc(strings.Split(path.Dir(p), "/"), IsForeign) || strings.Contains(name, ".min.") ||
		strings.HasSuffix(name, ".pb.go") || strings.HasSuffix(name, "_pb2.py") || strings.HasSuffix(name, ".d.ts")
}

// resolve finds the file of the tree that a path in a log or an issue means. That is the one at this path, else the
// longest path that it ends with, as a log has it from another machine, else the only one that ends with it. "": there
// is none, or there are several.
func (l *layout) resolve(named string) string {
	named = strings.TrimPrefix(path.Clean(strings.ReplaceAll(named, `\`, "/")), "/")
	if l.has(named) {
		return named
	}
	inside, around := "", []string{}
	for _, p := range l.byBase[path.Base(named)] {
		if strings.HasSuffix(named, "/"+p) && len(p) > len(inside) {
			inside = p
		}
		if strings.HasSuffix(p, "/"+named) {
			around = append(around, p)
		}
	}
	if inside == "" && len(around) == 1 {
		return around[0]
	}
	return inside
}

package locate

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/tool/symbol"
	"github.com/sia-bot/sia/sia/tamper"
)

// Limits of a tree.
const (
	maxRead  = 10_000   // source files that are read
	maxBytes = 96 << 20 // of all files read
	maxFile  = 512 << 10
)

// layout indexes the paths of a tree.
type layout struct {
	sizes  map[string]int64
	all    []string            // sorted
	code   []string            // source files except tests, sorted
	tested []string            // source files of tests, sorted
	byBase map[string][]string // files by base name
	stems  map[string][]string // source files by folded name, without extension
}

// readLayout indexes the files of a tree.
func readLayout(ctx context.Context, tree Tree) (*layout, error) {
	files, err := tree.Files(ctx)
	if err != nil {
		return nil, err
	}
	l := &layout{sizes: map[string]int64{}, byBase: map[string][]string{}}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range files {
		if isThirdParty(f.Path) {
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

// isCode reports whether a file is source code that may contain a fault.
func isCode(p string) bool { return symbol.Knows(p) && !isTest(p) && !isThirdParty(p) }

// IsCandidate reports whether sources may vote for a file with this path: it is source code, and neither a test nor
// third party or generated code.
func IsCandidate(p string) bool { return isCode(p) }

// isTest reports whether a file belongs to tests. Rust sources may contain tests together with code, and count as code.
func isTest(p string) bool {
	return tamper.IsTest(p) && (path.Ext(p) != ".rs" || slices.Contains(strings.Split(path.Dir(p), "/"), "tests"))
}

// IsThirdParty reports whether a folder with this name contains third party or generated code.
func IsThirdParty(folder string) bool {
	switch folder {
	case "node_modules", "vendor", "third_party", "dist", "__pycache__":
		return true
	}
	return false
}

// isThirdParty reports whether a file is third party or generated code.
func isThirdParty(p string) bool {
	name := path.Base(p)
	return slices.ContainsFunc(strings.Split(path.Dir(p), "/"), IsThirdParty) || strings.Contains(name, ".min.") ||
		strings.HasSuffix(name, ".pb.go") || strings.HasSuffix(name, "_pb2.py") || strings.HasSuffix(name, ".d.ts")
}

// resolve returns the file of the tree that a path in a log or an issue refers to: the file at this path, else the
// longest path that it ends with, as in a log of another machine, else the only file that ends with it; "" if there is
// none, or more than one.
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

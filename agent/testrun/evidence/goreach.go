package evidence

import (
	"context"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/gitops"
)

type fileChange = gitops.HistoryChange

// maxFar is the maximum number of unchanged packages to run that import changed ones.
const maxFar = 6

// goPackage is a folder of Go files.
type goPackage struct {
	dir     string
	code    map[string]bool // import paths of its code
	tests   map[string]bool // import paths of its tests
	files   []string        // its test files
	hasCode bool
}

// goGraph is the import graph of a tree's packages.
type goGraph struct {
	packages map[string]*goPackage // by folder
	dirs     map[string]string     // folders, by import path
}

var goModule = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)"?`)

// readGo reads the imports of a tree's Go files.
func (l *look) readGo(ctx context.Context, tree testrun.Files) (goGraph, error) {
	g := goGraph{packages: map[string]*goPackage{}, dirs: map[string]string{}}
	modules := map[string]string{} // by folder
	for p, f := range tree {
		if ctx.Err() != nil {
			return g, context.Cause(ctx)
		}
		skipped := testrun.HasFolder(p, "vendor", "testdata") || f.Link
		switch {
		case skipped:
		case path.Base(p) == "go.mod":
			if text, err := l.History.Blob(f.ID, maxSource); err == nil {
				if m := goModule.FindSubmatch(text); m != nil {
					modules[path.Dir(p)] = string(m[1])
				}
			}
		case strings.HasSuffix(p, ".go"):
			l.addGo(g, p, f)
		}
	}
	for dir := range g.packages {
		if at, ok := testrun.Nearest(tree, path.Join(dir, "x.go"), "go.mod"); ok && modules[at] != "" {
			rest := strings.TrimPrefix(strings.TrimPrefix(dir, at), "/")
			if at == "." {
				rest = strings.TrimPrefix(dir, ".")
			}
			g.dirs[strings.TrimSuffix(modules[at]+"/"+rest, "/")] = dir
		}
	}
	return g, nil
}

// addGo adds a file to its package.
func (l *look) addGo(g goGraph, p string, f gitops.HistoryFile) {
	dir := path.Dir(p)
	pkg := g.packages[dir]
	if pkg == nil {
		pkg = &goPackage{dir: dir, code: map[string]bool{}, tests: map[string]bool{}}
		g.packages[dir] = pkg
	}
	into := pkg.code
	if strings.HasSuffix(p, "_test.go") {
		into = pkg.tests
		pkg.files = append(pkg.files, p)
	} else {
		pkg.hasCode = true
	}
	for _, i := range l.cache.importsOf(f.ID, func() []string { return l.goImports(f.ID) }) {
		into[i] = true
	}
}

// goImports returns the import paths of a file, if it can be parsed.
func (l *look) goImports(id string) (out []string) {
	text, err := l.History.Blob(id, maxSource)
	if err != nil {
		return nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if file == nil || err != nil && len(file.Imports) == 0 {
		return nil
	}
	for _, i := range file.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// importers returns the folders of the packages that import one of these, in their code or in their tests.
func (g goGraph) importers(of map[string]bool) (code, tests []string) {
	for dir, pkg := range g.packages {
		uses := func(paths map[string]bool) bool {
			for p := range paths {
				if to, ok := g.dirs[p]; ok && to != dir && of[to] {
					return true
				}
			}
			return false
		}
		if uses(pkg.code) {
			code = append(code, dir)
		}
		if uses(pkg.tests) {
			tests = append(tests, dir)
		}
	}
	slices.Sort(code)
	slices.Sort(tests)
	return code, tests
}

// supportName matches the names of packages that help tests.
var supportName = regexp.MustCompile(`(?i)test|mock|fake|assert|fixture`)

// support returns the packages that only tests import and that match supportName.
func (g goGraph) support() map[string]bool {
	inCode, inTests := map[string]bool{}, map[string]bool{}
	for dir, pkg := range g.packages {
		for p := range pkg.code {
			inCode[g.dirs[p]] = true
		}
		for p := range pkg.tests {
			if g.dirs[p] != dir {
				inTests[g.dirs[p]] = true
			}
		}
	}
	out := map[string]bool{}
	for dir, pkg := range g.packages {
		if dir != "." && pkg.hasCode && inTests[dir] && !inCode[dir] && supportName.MatchString(path.Base(dir)) {
			out[dir] = true
		}
	}
	return out
}

// reachGo returns the packages that changed, and those that import them.
func (l *look) reachGo(ctx context.Context) (reached, error) {
	head, err := l.readGo(ctx, l.change.trees[atHead])
	if err != nil {
		return reached{}, err
	}
	base, err := l.readGo(ctx, l.change.trees[atBase])
	if err != nil {
		return reached{}, err
	}
	if err := l.cache.saveImports(); err != nil {
		return reached{}, err
	}
	support := base.support()
	lang := testrun.Golang{}
	out := reached{isTest: func(p string) bool { return lang.IsTest(p) || support[path.Dir(p)] }}
	changed, helpers := l.changedPackages(base, head, support)
	dirs := slices.Sorted(maps.Keys(changed))
	add := func(dir string, far bool) bool {
		g := group{name: dir, far: far, overlaid: helpers}
		for _, graph := range []goGraph{base, head} {
			if pkg := graph.packages[dir]; pkg != nil {
				g.files = append(g.files, pkg.files...)
			}
		}
		slices.Sort(g.files)
		if g.files = slices.Compact(g.files); len(g.files) == 0 {
			return false
		}
		for _, f := range l.change.files {
			g.overlaid = g.overlaid || lang.IsTest(f.Path) && below(f.Path, dir)
		}
		out.groups = append(out.groups, g)
		return true
	}
	untested := map[string]bool{}
	for _, dir := range dirs {
		if len(out.groups) == maxGroups {
			l.omit("%d Go packages: no more than %d are run", len(dirs)-maxGroups, maxGroups)
			return out, nil
		}
		if !add(dir, false) && head.packages[dir] != nil && head.packages[dir].hasCode {
			untested[dir] = true
		}
	}
	out.whole = l.reachFar(head, changed, untested, helpers, add)
	return out, nil
}

// changedPackages returns the packages with changed files; a file in testdata belongs to the package above. helpers
// reports whether code that tests of other packages use has changed.
func (l *look) changedPackages(base, head goGraph, support map[string]bool) (dirs map[string]bool, helpers bool) {
	dirs = map[string]bool{}
	for _, f := range l.change.files {
		dir := path.Dir(f.Path)
		helpers = helpers || support[dir]
		if i := slices.Index(strings.Split(dir, "/"), "testdata"); i >= 0 {
			dir = path.Join(append([]string{"."}, strings.Split(dir, "/")[:i]...)...)
		}
		for ; !strings.HasSuffix(f.Path, ".go"); dir = path.Dir(dir) { // embedded files, or data of tests
			if base.packages[dir] != nil || head.packages[dir] != nil || dir == "." || dir == "/" {
				break
			}
		}
		if base.packages[dir] != nil || head.packages[dir] != nil {
			dirs[dir] = true
		}
	}
	return dirs, helpers
}

// reachFar adds the nearest packages that import changed ones: first those that import untested packages. It reports
// whether it added all.
func (l *look) reachFar(
	g goGraph, changed, untested map[string]bool, helpers bool, add func(dir string, far bool) bool,
) bool {
	done, more := maps.Clone(changed), 0
	n := 0
	walk := func(from map[string]bool) {
		for at := maps.Clone(from); len(at) > 0; {
			code, tests := g.importers(at)
			at = map[string]bool{}
			for _, dir := range code {
				if !done[dir] {
					at[dir] = true
				}
			}
			all := append(code, tests...)
			slices.Sort(all)
			for _, dir := range slices.Compact(all) {
				switch {
				case done[dir]:
				case n >= maxFar:
					more++
				case add(dir, !helpers):
					n++
				}
				done[dir] = true
			}
		}
	}
	walk(untested)
	walk(changed)
	if more > 0 {
		l.omit("%d Go packages that import what changed: no more than %d of those are run", more, maxFar)
	}
	return more == 0
}

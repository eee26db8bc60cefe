package replay

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/agent/testrun"
)

// goTypes checks the packages of a module in one tree, without the packages that they import from elsewhere:
// expressions with a type from there count as correct. Its input is strangers' code, so it computes
// nothing that can grow beyond it.
type goTypes struct {
	byDir  map[string][]string // Go files
	read   testrun.ReadFile
	set    *token.FileSet
	module string // path
	at     string // folder of its go.mod
	known  map[string]*types.Package
	bytes  int // read
	// test files that may use an import under any name
	nameless map[string]bool
	blind    bool // a file can't be read or parsed, or the module is too large: unknown
}

// Limits of the checked files, in bytes.
const (
	maxChecked = 32 << 20
	maxString  = 1 << 10 // of a literal
)

// goModule matches the line of go.mod that names the module.
var goModule = regexp.MustCompile(`(?m)^module[ \t]+"?([^\s"]+)`)

// missing returns, like a build, the errors for what test files use and their module lacks, by package.
func (goSieve) missing(tree testrun.Files, tests []string, read testrun.ReadFile) map[string]string {
	byDir := map[string][]string{}
	for _, p := range slices.Sorted(maps.Keys(tree)) {
		if path.Ext(p) == ".go" {
			byDir[path.Dir(p)] = append(byDir[path.Dir(p)], p)
		}
	}
	out, modules := map[string]string{}, map[string]*goTypes{}
	for _, t := range tests {
		group := path.Dir(t)
		at, ok := testrun.Nearest(tree, t, "go.mod")
		if _, done := out[group]; done || !ok || !strings.HasSuffix(t, "_test.go") ||
			testrun.HasFolder(t, "testdata", "vendor") {
			continue
		}
		if modules[at] == nil {
			mod, err := read(path.Join(at, "go.mod"))
			m := goModule.FindSubmatch(mod)
			if err != nil || m == nil {
				continue
			}
			modules[at] = &goTypes{byDir: byDir, read: read, set: token.NewFileSet(), known: map[string]*types.Package{},
				nameless: map[string]bool{}, module: string(m[1]), at: at}
		}
		out[group] = modules[at].missing(group)
	}
	maps.DeleteFunc(out, func(_, log string) bool { return log == "" })
	return out
}

// missing checks the tests of one folder.
func (g *goTypes) missing(dir string) string {
	inside, outside := g.parse(dir, true)
	self := path.Join(g.module, below(g.at, dir))
	pkg, log := g.check(self, inside)
	if len(outside) > 0 {
		was, is := g.known[self]
		g.known[self] = pkg
		_, more := g.check(self+"_test", outside)
		if log += more; is {
			g.known[self] = was
		} else {
			delete(g.known, self)
		}
	}
	if g.blind {
		return ""
	}
	return log
}

// below returns the path of a folder relative to another.
func below(at, dir string) string {
	if at == "." {
		return dir
	}
	return strings.TrimPrefix(strings.TrimPrefix(dir, at), "/")
}

// parse reads the files of a folder that are built here. outside are tests of an external test package.
// It drops bodies of functions that are not tests, since nothing else depends on them.
func (g *goTypes) parse(dir string, tests bool) (inside, outside []*ast.File) {
	for _, p := range g.byDir[dir] {
		isTest := strings.HasSuffix(p, "_test.go")
		if isTest && !tests || g.blind {
			continue
		}
		src, err := g.read(p)
		if g.bytes += len(src); err != nil || g.bytes > maxChecked {
			g.blind = true
			continue
		}
		if !builtHere(p, src) {
			continue
		}
		f, err := parser.ParseFile(g.set, path.Base(p), src, parser.SkipObjectResolution)
		if err != nil {
			g.blind = true
			continue
		}
		if !g.name(f) && isTest {
			g.nameless[path.Base(p)] = true
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && !isTest && fn.Type.TypeParams == nil {
				fn.Body = nil
			}
		}
		shrink(f)
		if isTest && strings.HasSuffix(f.Name.Name, "_test") {
			outside = append(outside, f)
		} else {
			inside = append(inside, f)
		}
	}
	return inside, outside
}

// name sets the names of a file's imports; false if one does not follow
// from its path.
func (g *goTypes) name(f *ast.File) (all bool) {
	used := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	all = true
	for _, i := range f.Imports {
		names := importNames(i)
		n := slices.IndexFunc(names, func(name string) bool { return used[name] })
		if n < 0 {
			all = false
		} else if i.Name == nil {
			i.Name = &ast.Ident{NamePos: i.Path.Pos(), Name: names[n]}
		}
	}
	return all
}

// shrink simplifies constants, since ten lines may define one that exhausts the memory. It keeps all names.
func shrink(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING && len(n.Value) > maxString {
				n.Value = `""`
			}
		case *ast.GenDecl:
			if n.Tok != token.CONST {
				return true
			}
			for _, s := range n.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					for i := range v.Values {
						v.Values[i] = firstTerm(v.Values[i])
					}
				}
			}
		}
		return true
	})
}

// firstTerm returns the first operand of a sum; it has the same kind.
func firstTerm(x ast.Expr) ast.Expr {
	for {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.BinaryExpr:
			if e.Op != token.ADD {
				e.X, e.Y = firstTerm(e.X), firstTerm(e.Y)
				return e
			}
			x = e.X
		case *ast.CallExpr:
			for i := range e.Args {
				e.Args[i] = firstTerm(e.Args[i])
			}
			return x
		default:
			return x
		}
	}
}

// check checks a package, and returns what its tests lack.
func (g *goTypes) check(importPath string, of []*ast.File) (*types.Package, string) {
	about := map[token.Pos]ast.Expr{} // position of a selector → its operand
	bases := map[token.Pos]bool{}     // positions of these operands
	for _, f := range of {
		if !strings.HasSuffix(g.set.Position(f.Pos()).Filename, "_test.go") {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if n, ok := n.(*ast.SelectorExpr); ok {
				about[n.Sel.Pos()] = n.X
				bases[n.X.Pos()] = true
			}
			return true
		})
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	var log strings.Builder
	conf := types.Config{Importer: g, FakeImportC: true, Error: func(err error) {
		var e types.Error
		if !errors.As(err, &e) {
			return
		}
		at := g.set.Position(e.Pos)
		switch {
		case !strings.HasSuffix(at.Filename, "_test.go"):
		case g.nameless[at.Filename] && bases[e.Pos]:
		case goMissing.MatchString(e.Msg) &&
			!(strings.HasPrefix(e.Msg, "not enough") && strings.Contains(e.Msg, "unknown type")),
			goMember.MatchString(e.Msg) && isOwn(info.TypeOf(about[e.Pos]), map[types.Type]bool{}):
			fmt.Fprintf(&log, "./%s:%d:%d: %s\n", at.Filename, at.Line, at.Column, e.Msg)
		}
	}}
	pkg, err := conf.Check(importPath, g.set, of, info)
	if pkg == nil || err != nil && dotImports(of) { // names may come from another package
		return cmp.Or(pkg, types.NewPackage(importPath, "none")), ""
	}
	return pkg, log.String()
}

// Errors about missing or differently named things; goMember is about a type, which must be fully known.
var (
	goMissing = regexp.MustCompile(`^undefined: |^unknown field |arguments in call to |` +
		`^assignment mismatch: |redeclared in this`)
	goMember = regexp.MustCompile(` undefined \(type `)
)

// isOwn reports whether all components of a type are known, so that an apparently missing member is missing. seen are
// visited types.
func isOwn(t types.Type, seen map[types.Type]bool) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if t == nil || seen[t] {
		return t != nil
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if f.Embedded() && !isOwn(f.Type(), seen) {
				return false
			}
		}
		return true
	case *types.Interface:
		for e := range u.EmbeddedTypes() {
			if !isOwn(e, seen) {
				return false
			}
		}
		return true
	case *types.Basic:
		return u.Kind() != types.Invalid
	default:
		return u != nil
	}
}

// dotImports reports whether a file has a dot import.
func dotImports(of []*ast.File) bool {
	return slices.ContainsFunc(of, func(f *ast.File) bool {
		return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Name != nil && i.Name.Name == "." })
	})
}

// errForeign reports that a package is outside the module.
var errForeign = errors.New("a package of another module")

// Import checks a package of the module, without its tests.
func (g *goTypes) Import(p string) (*types.Package, error) {
	inside, ok := strings.CutPrefix(p+"/", g.module+"/")
	if !ok {
		return nil, errForeign
	}
	if pkg, ok := g.known[p]; ok {
		if pkg == nil {
			return nil, errForeign // already being checked: a cycle
		}
		return pkg, nil
	}
	g.known[p] = nil
	of, _ := g.parse(path.Join(g.at, inside), false)
	if len(of) == 0 {
		return nil, fmt.Errorf("import %s: %w", strconv.Quote(p), errForeign)
	}
	pkg, _ := g.check(p, of)
	g.known[p] = pkg
	return pkg, nil
}

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

// goTypes checks the packages of a module in one tree, without what they import from elsewhere:
// whatever has a type from there is believed to be right. Strangers wrote what it reads, so nothing
// that can grow beyond it is computed.
type goTypes struct {
	byDir  map[string][]string // Go files
	read   testrun.ReadFile
	set    *token.FileSet
	module string // path
	at     string // folder of its go.mod
	known  map[string]*types.Package
	bytes  int // read
	// test files that may use an import by any name
	nameless map[string]bool
	blind    bool // a file can't be read or parsed, or it is too much: nothing can be told
}

// Bounds of what is checked, in bytes.
const (
	maxChecked = 32 << 20
	maxString  = 1 << 10 // of a literal
)

// goModule is the line of go.mod that names the module.
var goModule = regexp.MustCompile(`(?m)^module[ \t]+"?([^\s"]+)`)

// missing says, as a build would, what test files use that their module does not have, by package.
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

// below is where a folder lies in another.
func below(at, dir string) string {
	if at == "." {
		return dir
	}
	return strings.TrimPrefix(strings.TrimPrefix(dir, at), "/")
}

// parse reads the files of a folder that are built here. outside are tests of another package than the folder's.
// Bodies of functions that are no tests are left out: what they say matters to nobody else.
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

// name gives a file's imports the names that it uses them by; false where one has none that could
// be told from its path.
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

// shrink makes constants small: ten lines may name one that fills all memory. No name that is used elsewhere is lost.
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

// firstTerm is an expression without what is added to it; it has the same kind.
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

// check checks a package, and says what its tests lack.
func (g *goTypes) check(importPath string, of []*ast.File) (*types.Package, string) {
	about := map[token.Pos]ast.Expr{} // of what something is selected at a place
	bases := map[token.Pos]bool{}     // where that stands
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
	if pkg == nil || err != nil && dotImports(of) { // names may come from elsewhere
		return cmp.Or(pkg, types.NewPackage(importPath, "none")), ""
	}
	return pkg, log.String()
}

// Complaints about what is not there, or is called otherwise; goMember is about a type, of which all has to be known.
var (
	goMissing = regexp.MustCompile(`^undefined: |^unknown field |arguments in call to |` +
		`^assignment mismatch: |redeclared in this`)
	goMember = regexp.MustCompile(` undefined \(type `)
)

// isOwn reports whether all that a type is made of is known, so that what it seems to lack is not there. seen are
// types that were looked at.
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

// dotImports reports whether a file takes another package's names for its own.
func dotImports(of []*ast.File) bool {
	return slices.ContainsFunc(of, func(f *ast.File) bool {
		return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Name != nil && i.Name.Name == "." })
	})
}

// errForeign says that a package lies outside of the module.
var errForeign = errors.New("a package of another module")

// Import checks a package of the module, without its tests.
func (g *goTypes) Import(p string) (*types.Package, error) {
	inside, ok := strings.CutPrefix(p+"/", g.module+"/")
	if !ok {
		return nil, errForeign
	}
	if pkg, ok := g.known[p]; ok {
		if pkg == nil {
			return nil, errForeign // it is being checked: a cycle
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

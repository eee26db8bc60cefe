package replay

import (
	"bytes"
	"errors"
	"go/ast"
	"go/build"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/agent/testrun"
)

// Why commits are not judged.
const (
	sameCode  = "its code does what it did"
	sameTests = "none of its tests is new or changed"
	onlyAdds  = "its tests call what it adds, or nothing that it changed"
)

// idle compares declarations, without comments and layout. Files that tests read and that are not Go may matter, and so
// may files that can't be parsed: such commits are judged.
func (l goSieve) idle(c candidate, s split, was, before, after testrun.ReadFile) string {
	var code, tests []string // changed files
	other, data := false, false
	for _, f := range c.changes {
		switch {
		case strings.HasSuffix(f.Path, "_test.go") && !testrun.HasFolder(f.Path, "testdata", "vendor"):
			tests = append(tests, f.Path)
		case l.IsTest(f.Path):
			data = true
		case l.IsCode(f.Path):
			code = append(code, f.Path)
		default:
			other = other || !l.IsManifest(f.Path) && !isProse(f.Path)
		}
	}
	codeWas, ok1 := declsOf(code, before)
	codeNow, ok2 := declsOf(code, after)
	testsWas, ok3 := declsOf(tests, was)
	testsNow, ok4 := declsOf(tests, after)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return ""
	}
	changes, adds := codeNow.against(codeWas)
	switch {
	case !other && !changes && !adds:
		return sameCode
	case data || testsNow.moves(testsWas) && (other || changes):
		return ""
	case !changes || len(s.leftOut) > 0 || len(s.tests) == 0:
		return onlyAdds
	default:
		return sameTests
	}
}

// isProse reports whether a file is documentation or CI configuration, which tests don't read.
func isProse(p string) bool {
	return path.Ext(p) == ".md" || path.Ext(p) == ".rst" || strings.HasPrefix(p, ".") ||
		slices.Contains([]string{"LICENSE", "Makefile", "AUTHORS", "CONTRIBUTORS"}, p)
}

// goDecl is a declaration of a Go package's changed files.
type goDecl struct {
	goPart
	dir  string
	code string // without comments and layout
}

// goDecls are declarations by folder and name.
type goDecls map[string]*goDecl

// declsOf returns the declarations of the existing files that are built on this machine; false if one can't be
// read or parsed.
func declsOf(of []string, read testrun.ReadFile) (goDecls, bool) {
	out := goDecls{}
	for _, p := range of {
		src, err := read(p)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !builtHere(p, src) {
			continue
		}
		if err != nil {
			return nil, false
		}
		parts, err := goParts(src)
		if err != nil {
			return nil, false
		}
		for _, part := range parts {
			d := &goDecl{goPart: part, dir: path.Dir(p), code: goCode(src[part.from:part.to])}
			key := d.dir + ":" + part.name
			for out[key] != nil {
				key += "+"
			}
			out[key] = d
		}
	}
	return out, true
}

// builtHere reports whether the go command builds a file on this machine, by its name and its constraints.
func builtHere(p string, src []byte) bool {
	here := build.Default
	here.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(src)), nil }
	match, err := here.MatchFile(path.Dir(p), path.Base(p))
	return match || err != nil
}

// modern are newer forms of older Go code, as goCode prints them.
var modern = strings.NewReplacer(
	"interface interface\n{ \n} \n", "IDENT any\n",
	"IDENT ioutil\n. \nIDENT ReadFile\n", "IDENT os\n. \nIDENT ReadFile\n",
	"IDENT ioutil\n. \nIDENT WriteFile\n", "IDENT os\n. \nIDENT WriteFile\n",
	"IDENT ioutil\n. \nIDENT TempFile\n", "IDENT os\n. \nIDENT CreateTemp\n",
	"IDENT ioutil\n. \nIDENT TempDir\n", "IDENT os\n. \nIDENT MkdirTemp\n",
	"IDENT ioutil\n. \n", "IDENT io\n. \n")

// goCode returns Go code without layout and comments, except directives.
func goCode(src []byte) string {
	var s scanner.Scanner
	set := token.NewFileSet()
	s.Init(set.AddFile("", set.Base(), len(src)), src, nil, scanner.ScanComments)
	var b strings.Builder
	for {
		_, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return modern.Replace(b.String())
		case tok == token.COMMENT && !strings.HasPrefix(lit, "//go:") && !strings.HasPrefix(lit, "//export "):
			continue
		case tok == token.SEMICOLON:
			lit = ";"
		}
		b.WriteString(tok.String() + " " + lit + "\n")
	}
}

// against reports whether declarations were removed or changed, and whether others were added. Added ones that run,
// or implement an interface, without a call count as a change, too.
func (ds goDecls) against(was goDecls) (changes, adds bool) {
	for key, d := range was {
		if n, ok := ds[key]; !ok && d.imports() == "" || ok && n.code != d.code {
			changes = true
		}
	}
	for key, d := range ds {
		if _, ok := was[key]; ok {
			continue
		}
		adds = true
		owner, _, isMethod := strings.Cut(d.name, ".")
		switch n := d.node.(type) {
		case *ast.FuncDecl: // a method may implement an interface
			_, isOld := was[d.dir+":"+owner]
			changes = changes || isMethod && isOld || n.Name.Name == "init"
		case *ast.ImportSpec:
			changes = changes || strings.Contains(d.imports(), ".")
		default:
			changes = changes || strings.Contains(d.code, "(") // a variable initialized by a call
		}
	}
	return changes, adds
}

// imports returns the path that a declaration imports; "" if it is not an import.
func (d *goDecl) imports() string {
	name, ok := strings.CutPrefix(d.name, "import ")
	if !ok {
		return ""
	}
	p, err := strconv.Unquote(name)
	if err != nil {
		return name
	}
	return p
}

// goAround are functions that run around every test of their package.
var goAround = regexp.MustCompile(`^(init|_|TestMain|[\w?]+\.(Set[Uu]p|TearDown|Before|After)\w*)(#|$)`)

// moves reports whether a test, or a function that runs around tests, changed or uses something that changed.
func (ds goDecls) moves(was goDecls) bool {
	before := map[string]bool{}
	for _, d := range was {
		before[d.dir+":"+d.code] = true
	}
	named := ds.named()
	for _, d := range ds {
		if (d.runs || goAround.MatchString(d.name)) && slices.ContainsFunc(reach(d, named), func(x *goDecl) bool {
			return !before[x.dir+":"+x.code]
		}) {
			return true
		}
	}
	return false
}

// named returns declarations by folder and each name that may refer to them. A type's name includes its methods.
func (ds goDecls) named() map[string][]*goDecl {
	out := map[string][]*goDecl{}
	for _, d := range ds {
		if d.imports() != "" {
			continue
		}
		name, _, _ := strings.Cut(d.name, "#")
		names := map[string]bool{}
		for part := range strings.SplitSeq(name, ".") {
			names[part] = true
		}
		if _, ok := d.node.(*ast.FuncDecl); !ok {
			maps.Copy(names, declaredIn(d.node))
		}
		for name := range names {
			out[d.dir+":"+name] = append(out[d.dir+":"+name], d)
		}
	}
	return out
}

// reach returns a declaration with everything in its package that it uses, directly or indirectly.
func reach(from *goDecl, named map[string][]*goDecl) []*goDecl {
	out, seen := []*goDecl{from}, map[*goDecl]bool{from: true}
	for i := 0; i < len(out); i++ {
		ast.Inspect(out[i].node, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				for _, d := range named[from.dir+":"+id.Name] {
					if !seen[d] {
						seen[d] = true
						out = append(out, d)
					}
				}
			}
			return true
		})
	}
	return out
}

// declaredIn returns the names declared within a node.
func declaredIn(n ast.Node) map[string]bool {
	out := map[string]bool{}
	add := func(of ...*ast.Ident) {
		for _, id := range of {
			out[id.Name] = true
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			add(n.Name)
		case *ast.TypeSpec:
			add(n.Name)
		case *ast.ValueSpec:
			add(n.Names...)
		case *ast.Field:
			add(n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, x := range n.Lhs {
					if id, ok := x.(*ast.Ident); ok {
						add(id)
					}
				}
			}
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
					add(id)
				}
			}
		}
		return true
	})
	return out
}

package replay

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// goPart is a part of a Go file that can be removed alone: a function, a group of constants, or one import, type or
// variable.
type goPart struct {
	name        string // unique in the file
	node        ast.Node
	from, to    int  // bytes of the file, with its comment
	first, last int  // lines, without the comment
	runs        bool // package testing, or a suite, calls it
}

// goParts returns the parts of a Go file, in their order.
func goParts(src []byte) ([]goPart, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse test file: %w", err)
	}
	var parts []goPart
	times := map[string]int{}
	add := func(name string, n ast.Node, doc *ast.CommentGroup) {
		if times[name]++; times[name] > 1 { // such as init and _
			name += "#" + strconv.Itoa(times[name])
		}
		at := set.File(n.Pos())
		p := goPart{name: name, node: n, from: at.Offset(n.Pos()), to: at.Offset(n.End()),
			first: at.PositionFor(n.Pos(), false).Line, last: at.PositionFor(n.End(), false).Line}
		if doc != nil {
			p.from = at.Offset(doc.Pos())
		}
		if f, ok := n.(*ast.FuncDecl); ok {
			p.runs = goCalled.MatchString(f.Name.Name)
		}
		parts = append(parts, p)
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(receiver(d)+d.Name.Name, d, d.Doc)
		case *ast.GenDecl:
			for i, s := range d.Specs {
				switch {
				case d.Lparen.IsValid() && d.Tok != token.CONST:
					add(specName(s), s, specDoc(s))
				case i == 0: // constants of a group may use iota
					add(specName(s), d, d.Doc)
				}
			}
		}
	}
	return parts, nil
}

// goCalled matches names of functions and methods that are tests.
var goCalled = regexp.MustCompile(`^(Test|Example|Fuzz)`)

// receiver returns the type of a method and a dot; "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	for t := f.Recv.List[0].Type; ; {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "."
		default:
			return "?."
		}
	}
}

func specName(s ast.Spec) string {
	switch s := s.(type) {
	case *ast.ImportSpec:
		return "import " + s.Path.Value
	case *ast.TypeSpec:
		return s.Name.Name
	case *ast.ValueSpec:
		return s.Names[0].Name
	}
	return "?"
}

func specDoc(s ast.Spec) *ast.CommentGroup {
	switch s := s.(type) {
	case *ast.ImportSpec:
		return s.Doc
	case *ast.TypeSpec:
		return s.Doc
	case *ast.ValueSpec:
		return s.Doc
	}
	return nil
}

// cutAt adds the parts at lines to those removed from a file, and the imports that are then
// unused. ok is false if a line is in none of them, or if no test would remain.
func (goSieve) cutAt(src []byte, cut []string, lines []int) (names []string, ok bool) {
	parts, err := goParts(src)
	if err != nil {
		return nil, false
	}
	gone := map[string]bool{}
	for _, name := range cut {
		gone[name] = true
	}
	for _, line := range lines {
		found := false
		for _, p := range parts {
			if p.first <= line && line <= p.last && !gone[p.name] {
				gone[p.name], found = true, true
			}
		}
		if !found {
			return nil, false
		}
	}
	unusedImports(parts, gone)
	had, has := false, false
	for _, p := range parts {
		had, has = had || p.runs, has || p.runs && !gone[p.name]
		if gone[p.name] {
			names = append(names, p.name)
		}
	}
	return names, has || !had
}

// unusedImports adds the imports that only removed parts used. If an import's name does not follow
// from its path, the compiler reports it.
func unusedImports(parts []goPart, gone map[string]bool) {
	was, is := map[string]bool{}, map[string]bool{}
	for _, p := range parts {
		ast.Inspect(p.node, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok {
					was[x.Name], is[x.Name] = true, is[x.Name] || !gone[p.name]
				}
			}
			return true
		})
	}
	for _, p := range parts {
		node := p.node
		if d, ok := node.(*ast.GenDecl); ok {
			node = d.Specs[0]
		}
		if s, ok := node.(*ast.ImportSpec); ok && slices.ContainsFunc(importNames(s), func(name string) bool {
			return was[name] && !is[name]
		}) {
			gone[p.name] = true
		}
	}
}

// importVersion matches a path's last element that is not a name.
var importVersion = regexp.MustCompile(`^v[0-9]+$`)

// importNames returns the names that a file may use for a package.
func importNames(s *ast.ImportSpec) []string {
	if s.Name != nil {
		return []string{s.Name.Name}
	}
	p, err := strconv.Unquote(s.Path.Value)
	if err != nil {
		return nil
	}
	if importVersion.MatchString(path.Base(p)) {
		p = path.Dir(p)
	}
	name, _, _ := strings.Cut(path.Base(p), ".") // such as gopkg.in/yaml.v3
	return []string{name, strings.TrimPrefix(name, "go-"), strings.TrimSuffix(name, "-go")}
}

// adds reports whether a file has a part, other than an import, that another version of it lacks or has in another
// form; also if one of them can't be read.
func (goSieve) adds(src, was []byte) bool {
	now, err := goParts(src)
	if err != nil {
		return true
	}
	old, err := goParts(was)
	if err != nil {
		return true
	}
	known := map[string]string{}
	for _, p := range old {
		known[p.name] = string(was[p.from:p.to])
	}
	return slices.ContainsFunc(now, func(p goPart) bool {
		text, ok := known[p.name]
		return !strings.HasPrefix(p.name, "import ") && (!ok || text != string(src[p.from:p.to]))
	})
}

// without returns a file without some of its parts. Lines keep their numbers.
func (goSieve) without(src []byte, names []string) ([]byte, error) {
	parts, err := goParts(src)
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for _, name := range names {
		gone[name] = true
	}
	out, found := bytes.Clone(src), 0
	for _, p := range parts {
		if !gone[p.name] {
			continue
		}
		found++
		for i := p.from; i < p.to; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	if found != len(names) {
		return nil, errors.New("leave declarations out of a test file: it does not have all of them")
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "", out, parser.SkipObjectResolution); err != nil {
		return nil, fmt.Errorf("leave declarations out of a test file: %w", err)
	}
	return out, nil
}

package symbol

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// goSymbols parses Go. If a file has errors, it returns the part that could be parsed.
func goSymbols(text string) (all []Symbol) {
	set := token.NewFileSet()
	file, _ := parser.ParseFile(set, "", text, parser.SkipObjectResolution) // a partial result is enough
	if file == nil {
		return nil
	}
	source := func(from, to token.Pos) string {
		a, b := set.Position(from).Offset, set.Position(to).Offset
		if a < 0 || b > len(text) || a > b {
			return ""
		}
		return text[a:b]
	}
	line := func(p token.Pos) int { return set.PositionFor(p, false).Line }
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if name == "_" { // the parser's placeholder for an error
				continue
			}
			if d.Recv != nil && len(d.Recv.List) > 0 {
				// without type parameters
				of, _, _ := strings.Cut(source(d.Recv.List[0].Type.Pos(), d.Recv.List[0].Type.End()), "[")
				name = strings.Trim(of, "* ") + "." + name
			}
			all = append(all, Symbol{Line: line(d.Pos()), Name: name, Text: source(d.Pos(), d.Type.End())})
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					all = append(all, Symbol{Line: line(s.Pos()), Name: s.Name.Name, Text: "type " + goType(s, source)})
					all = append(all, members(s, line, source)...)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.Name != "_" {
							all = append(all, Symbol{Line: line(n.Pos()), Name: n.Name, Text: d.Tok.String() + " " + n.Name})
						}
					}
				}
			}
		}
	}
	return all
}

// goType returns a type's definition without its body.
func goType(s *ast.TypeSpec, source func(from, to token.Pos) string) string {
	switch s.Type.(type) {
	case *ast.StructType:
		return source(s.Pos(), s.Type.Pos()) + "struct"
	case *ast.InterfaceType:
		return source(s.Pos(), s.Type.Pos()) + "interface"
	}
	return source(s.Pos(), s.End())
}

// members returns an interface's methods.
func members(s *ast.TypeSpec, line func(token.Pos) int, source func(from, to token.Pos) string) (all []Symbol) {
	i, ok := s.Type.(*ast.InterfaceType)
	if !ok || i.Methods == nil {
		return nil
	}
	for _, m := range i.Methods.List {
		for _, n := range m.Names {
			all = append(all, Symbol{Line: line(m.Pos()), Depth: 1, Name: s.Name.Name + "." + n.Name,
				Text: source(m.Pos(), m.End())})
		}
	}
	return all
}

package config

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/invalid"
	"github.com/sia-bot/sia/sia/text"
)

// Parse reads a settings file: sia.DefaultSettings with what the file says on
// top. Name is used in messages. An error is always an *invalid.File with every
// problem found; the settings are then the defaults.
func Parse(name string, b []byte) (sia.Settings, error) {
	settings, _, err := parseFile(name, b)
	return settings, err
}

// parseFile also returns the paths that the file sets.
func parseFile(name string, b []byte) (sia.Settings, map[string]int, error) {
	r := &fileReader{settings: sia.DefaultSettings(), fields: map[string]Field{}, set: map[string]int{},
		keys: map[string]ast.Node{}}
	for _, f := range Fields() {
		r.fields[f.Path] = f
	}
	r.file(bytes.TrimPrefix(b, []byte("\ufeff"))) // the byte-order mark that some editors put first
	if len(r.problems) == 0 {
		r.checkCombinations()
	}
	if len(r.problems) > 0 {
		return sia.DefaultSettings(), nil, &invalid.File{Name: name, Problems: r.problems}
	}
	return r.settings, r.set, nil
}

// fileReader walks one file and gathers problems.
type fileReader struct {
	settings sia.Settings
	fields   map[string]Field
	set      map[string]int // path → line
	keys     map[string]ast.Node
	problems []invalid.Problem
}

const maxProblems = 50

func (r *fileReader) problem(n ast.Node, path, nearest, format string, args ...any) {
	p := invalid.Problem{Path: path, Nearest: nearest, Message: fmt.Sprintf(format, args...)}
	if n != nil {
		if t := n.GetToken(); t != nil && t.Position != nil {
			p.Line, p.Column = t.Position.Line, t.Position.Column
		}
	}
	switch {
	case len(r.problems) < maxProblems:
		r.problems = append(r.problems, p)
	case len(r.problems) == maxProblems:
		r.problems = append(r.problems, invalid.Problem{Message: "there are more problems; mend these first"})
	}
}

func (r *fileReader) file(b []byte) {
	switch {
	case len(b) > maxFile:
		r.problem(nil, "", "", "the file has %d bytes; settings take at most %d", len(b), int(maxFile))
		return
	case !utf8.Valid(b):
		r.problem(nil, "", "", "the file is not UTF-8 text")
		return
	case tooDeep(b):
		r.problem(nil, "", "", "the file is nested too deeply; settings have two levels")
		return
	}
	file, err := parseSyntax(b)
	if err != nil {
		r.syntaxProblem(err)
		return
	}
	var body ast.Node
	for _, d := range file.Docs {
		if d == nil || d.Body == nil {
			continue
		}
		switch d.Body.Type() {
		case ast.CommentType, ast.NullType, ast.DirectiveType:
			continue
		}
		if body != nil {
			r.problem(d.Body, "", "", "a second YAML document; settings are one")
			return
		}
		body = d.Body
	}
	if body != nil {
		r.mapping(body, "")
	}
}

// parseSyntax parses YAML. The library has no contract about panics, and the input
// is a stranger's, so a panic becomes an error.
func parseSyntax(b []byte) (f *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("not readable as YAML: %v", p)
		}
	}()
	return parser.ParseBytes(b, 0, parser.AllowDuplicateMapKey())
}

func (r *fileReader) syntaxProblem(err error) {
	p := invalid.Problem{Message: "not readable as YAML: " + firstLine(err.Error())}
	var se yaml.Error
	if errors.As(err, &se) {
		p.Message = "not readable as YAML: " + se.GetMessage()
		if t := se.GetToken(); t != nil && t.Position != nil {
			p.Line, p.Column = t.Position.Line, t.Position.Column
		}
	}
	r.problems = append(r.problems, p)
}

// mapping reads the settings under a section, "" for the whole file.
func (r *fileReader) mapping(n ast.Node, section string) {
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	case *ast.NullNode:
		return // "checks:" with everything under it commented out
	default:
		what := "the file"
		if section != "" {
			what = "this section"
		}
		r.problem(n, section, "", "want settings, one a line such as `%s`; %s is %s", r.example(section), what, nodeKind(n))
		return
	}
	seen := map[string]bool{}
	for _, v := range values {
		key, ok := keyName(v.Key)
		path := strings.TrimPrefix(section+"."+key, ".")
		switch {
		case !ok:
			r.problem(v.Key, section, "", "names of settings are plain words; this is %s", nodeKind(v.Key))
		case seen[key]:
			r.problem(v.Key, path, "", "set twice; keep one")
		default:
			seen[key] = true
			r.entry(v, section, key, path)
		}
	}
}

func (r *fileReader) entry(v *ast.MappingValueNode, section, key, path string) {
	if f, ok := r.fields[path]; ok {
		if _, none := v.Value.(*ast.NullNode); none && f.Form == Texts {
			return // a list with every item commented out is not set
		}
		if t := v.Key.GetToken(); t != nil && t.Position != nil {
			r.set[path] = t.Position.Line
			r.keys[path] = v.Key
		}
		r.value(f, v.Value)
		return
	}
	if section == "" && r.isSection(key) {
		r.mapping(v.Value, key)
		return
	}
	r.problem(v.Key, cutPath(path), r.nearestKey(section, key), "there is no such setting")
}

func (r *fileReader) isSection(key string) bool {
	for _, s := range sectionDocs() {
		if s[0] == key {
			return true
		}
	}
	return false
}

// nearestKey looks beside the key first, then in the other sections.
func (r *fileReader) nearestKey(section, key string) string {
	var beside, elsewhere []string
	for _, f := range Fields() {
		sec, name, ok := strings.Cut(f.Path, ".")
		if !ok {
			sec, name = "", f.Path
		}
		if sec == section {
			beside = append(beside, name)
		}
		if name == key {
			elsewhere = append(elsewhere, f.Path)
		}
	}
	if section == "" {
		for _, s := range sectionDocs() {
			beside = append(beside, s[0])
		}
	}
	if n := text.Nearest(key, beside); n != "" {
		return n
	}
	if len(elsewhere) > 0 {
		return elsewhere[0]
	}
	return ""
}

func (r *fileReader) example(section string) string {
	for _, f := range Fields() {
		if sec, name, ok := strings.Cut(f.Path, "."); ok && sec == section {
			return fmt.Sprintf("%s: %s", name, Format(f.Value(sia.DefaultSettings())))
		}
	}
	return "label: sia"
}

// keyName is a key that is plain text.
func keyName(k ast.MapKeyNode) (string, bool) {
	s, ok := k.(*ast.StringNode)
	if !ok {
		return "", false
	}
	return s.Value, true
}

// nodeKind names a node for people.
func nodeKind(n ast.Node) string {
	switch n.(type) {
	case nil, *ast.NullNode:
		return "empty"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a group of settings"
	case *ast.AliasNode, *ast.AnchorNode, *ast.MergeKeyNode:
		return "an alias or anchor, which settings don't use"
	case *ast.TagNode:
		return "a tagged value; tags such as !!str are not used here"
	}
	return "something else"
}

// tooDeep reports brackets nested deeper than settings ever are, so that the
// parser is never sent down a hole.
func tooDeep(b []byte) bool {
	depth := 0
	for _, c := range b {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth > 50 {
			return true
		}
	}
	for line := range bytes.Lines(b) {
		if bytes.Count(line, []byte("- ")) > 200 || bytes.Count(line, []byte("? ")) > 50 || indentWidth(line) > 200 {
			return true
		}
	}
	return false
}

func indentWidth(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

func cutPath(s string) string {
	if len(s) > 80 {
		s = strings.ToValidUTF8(s[:80], "") + "…"
	}
	return strconv.Quote(s)[1 : len(strconv.Quote(s))-1]
}

// plainInt is a whole number as YAML 1.2's core schema writes it in base 10.
var plainInt = regexp.MustCompile(`^[-+]?[0-9]+$`)

func tokenText(n ast.Node) string {
	if t := n.GetToken(); t != nil && (t.Type == token.IntegerType || t.Type == token.FloatType) {
		return t.Value
	}
	return ""
}

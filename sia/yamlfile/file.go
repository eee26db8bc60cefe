package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/sia-bot/sia/sia/invalid"
)

// Form says what a kind of file is like.
type Form struct {
	Key  string // what a key is called: "setting"
	Most int    // bytes
}

// File is a file with one YAML document.
type File struct {
	Problems []invalid.Problem

	form Form
	body ast.Node                // nil: nothing stands in the file
	at   map[string]*token.Token // by the path of a key; items of lists count from 1
	root []field
}

const maxProblems = 50

// Parse reads a file. Where its text can't be read, that is its problem, and nothing stands in it.
func Parse(b []byte, form Form) *File {
	f := &File{form: form, at: map[string]*token.Token{}}
	switch b = bytes.TrimPrefix(b, []byte("\ufeff")); { // the byte-order mark that some editors put first
	case len(b) > form.Most:
		f.problem(nil, "", "", "the file has %d bytes; %ss take at most %d", len(b), form.Key, form.Most)
	case !utf8.Valid(b):
		f.problem(nil, "", "", "the file is not UTF-8 text")
	case tooDeep(b):
		f.problem(nil, "", "", "the file is nested too deeply")
	default:
		f.document(b)
	}
	return f
}

func (f *File) document(b []byte) {
	file, err := Syntax(b, 0)
	if err != nil {
		f.unreadable(err)
		return
	}
	for _, d := range file.Docs {
		if d == nil || d.Body == nil {
			continue
		}
		switch d.Body.Type() {
		case ast.CommentType, ast.NullType, ast.DirectiveType:
			continue
		}
		if f.body != nil {
			f.problem(d.Body.GetToken(), "", "", "a second YAML document; want one")
			f.body = nil
			return
		}
		f.body = d.Body
	}
}

// Syntax parses YAML. The library has no contract about panics, and the input is a stranger's, so a panic becomes an
// error.
func Syntax(b []byte, mode parser.Mode) (f *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("not readable as YAML: %v", p)
		}
	}()
	return parser.ParseBytes(b, mode, parser.AllowDuplicateMapKey())
}

func (f *File) unreadable(err error) {
	var known yaml.Error
	if errors.As(err, &known) {
		f.problem(known.GetToken(), "", "", "not readable as YAML: %s", known.GetMessage())
		return
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	f.problem(nil, "", "", "%s", first)
}

// Word is the value of a key of the file's own, as it is written; empty where it has no such key.
func (f *File) Word(key string) string {
	if v := f.own(key); v != nil && v.Value.GetToken() != nil {
		return v.Value.GetToken().Value
	}
	return ""
}

// IsList reports whether a list stands at a key of the file's own.
func (f *File) IsList(key string) bool {
	v := f.own(key)
	return v != nil && v.Value.Type() == ast.SequenceType
}

// own is the file's own entry of a key; nil where it has none.
func (f *File) own(key string) *ast.MappingValueNode {
	for _, v := range Entries(f.body) {
		if v.Key.GetToken().Value == key {
			return v
		}
	}
	return nil
}

// Line is where a key that was read stands; false where the file leaves it out.
func (f *File) Line(path string) (line int, ok bool) {
	t := f.at[path]
	if t == nil || t.Position == nil {
		return 0, false
	}
	return t.Position.Line, true
}

// Note notes what is wrong with the value at a path. Where that does not stand in the file, the nearest key above it is
// named as the place.
func (f *File) Note(path, nearest, format string, args ...any) {
	f.problem(f.nearestKey(path), path, nearest, format, args...)
}

func (f *File) nearestKey(path string) *token.Token {
	for at := path; at != ""; {
		if t := f.at[at]; t != nil {
			return t
		}
		at = at[:max(0, strings.LastIndexByte(at, '.'))]
	}
	if v := f.own(path); v != nil { // it was not read
		return v.Key.GetToken()
	}
	return nil
}

func (f *File) problem(at *token.Token, path, nearest, format string, args ...any) {
	p := invalid.Problem{Path: shownPath(path), Nearest: nearest, Message: fmt.Sprintf(format, args...)}
	if at != nil && at.Position != nil {
		p.Line, p.Column = at.Position.Line, at.Position.Column
	}
	switch {
	case len(f.Problems) < maxProblems:
		f.Problems = append(f.Problems, p)
	case len(f.Problems) == maxProblems:
		f.Problems = append(f.Problems, invalid.Problem{Message: "there are more problems; mend these first"})
	}
}

// shownPath is a path that can't be long, or steer a terminal: its words may be the file's.
func shownPath(s string) string {
	if len(s) > 80 {
		s = strings.ToValidUTF8(s[:80], "") + "…"
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}

// Entries are the entries of a mapping, also of a single key; nil when n is no mapping.
func Entries(n ast.Node) []*ast.MappingValueNode {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}
	}
	return nil
}

// tooDeep reports brackets nested deeper than such files ever are, so that the parser is never sent down a hole.
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
		indent := len(line) - len(bytes.TrimLeft(line, " "))
		if bytes.Count(line, []byte("- ")) > 200 || bytes.Count(line, []byte("? ")) > 50 || indent > 200 {
			return true
		}
	}
	return false
}

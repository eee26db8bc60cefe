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

// Form describes a kind of file.
type Form struct {
	Key  string // name of a key in messages, such as "setting"
	Most int    // maximum size, in bytes

	// Lenient is for a file that another reader takes, too, which is not strict. Top-level keys that Into does not know
	// are that reader's. Anchors, aliases, merges and tags may occur; a number may be a text and a text a number, and an
	// empty value is one that is not set.
	Lenient bool
}

// File is a file with one YAML document.
type File struct {
	Problems []invalid.Problem

	form Form
	body ast.Node                // nil: the file is empty
	at   map[string]*token.Token // tokens by the path of a key; items of lists are numbered from 1
	root []field
}

const maxProblems = 50

// Parse parses a file. If the syntax is invalid, the File has that problem and no content.
func Parse(b []byte, form Form) *File {
	f := &File{form: form, at: map[string]*token.Token{}}
	switch b = bytes.TrimPrefix(b, []byte("\ufeff")); { // the byte-order mark that some editors put first
	case len(b) > form.Most:
		f.problem(nil, "", "", "the file has %d bytes; it may have at most %d", len(b), form.Most)
	case !utf8.Valid(b):
		f.problem(nil, "", "", "the file is not UTF-8 text")
	case TooDeep(b):
		f.problem(nil, "", "", "the file is nested too deeply")
	default:
		f.document(b)
	}
	return f
}

func (f *File) document(b []byte) {
	file, err := Syntax(b, 0, parser.AllowDuplicateMapKey())
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

// Syntax parses YAML. The library does not exclude panics, and the input is untrusted, so a panic becomes an error.
func Syntax(b []byte, mode parser.Mode, opts ...parser.Option) (f *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("not readable as YAML: %v", p)
		}
	}()
	return parser.ParseBytes(b, mode, opts...)
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

// Word returns the value of a top-level key as it is written; empty if there is no such key.
func (f *File) Word(key string) string {
	if v := f.topLevel(key); v != nil && v.Value.GetToken() != nil {
		return v.Value.GetToken().Value
	}
	return ""
}

// IsList reports whether the value of a top-level key is a list.
func (f *File) IsList(key string) bool {
	v := f.topLevel(key)
	return v != nil && v.Value.Type() == ast.SequenceType
}

// Keys returns the keys of a top-level section, in the order of the file.
func (f *File) Keys(section string) (keys []string) {
	if s := f.topLevel(section); s != nil {
		for _, v := range f.pairs(s.Value, maxMerges) {
			keys = append(keys, v.Key.GetToken().Value)
		}
	}
	return keys
}

// topLevel returns the top-level entry of a key; nil if there is none.
func (f *File) topLevel(key string) *ast.MappingValueNode {
	for _, v := range Entries(f.body) {
		if v.Key.GetToken().Value == key {
			return v
		}
	}
	return nil
}

// Line returns the line of a key that was read, and whether the file has it.
func (f *File) Line(path string) (line int, ok bool) {
	t := f.at[path]
	if t == nil || t.Position == nil {
		return 0, false
	}
	return t.Position.Line, true
}

// Note records a problem with the value at a path. If the file does not have that path, the position is that of the
// nearest key above it.
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
	if v := f.topLevel(path); v != nil { // Into has not read it
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

// shownPath returns a path cut and escaped for display, because it may contain untrusted text of the file.
func shownPath(s string) string {
	if len(s) > 80 {
		s = strings.ToValidUTF8(s[:80], "") + "…"
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}

// Entries returns the entries of a mapping, also of one with a single key; nil if n is not a mapping.
func Entries(n ast.Node) []*ast.MappingValueNode {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}
	}
	return nil
}

// TooDeep reports whether a text is nested too deeply for the parser's recursion.
func TooDeep(b []byte) bool {
	depth := 0
	for _, c := range b {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
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

package policies

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/sia-bot/sia/sia/invalid"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

const (
	maxFile  = 64 << 10 // bytes of a policy file
	maxDepth = 12       // of brackets and of indentation in a policy file; the deepest that is needed is 5
)

// policyName is what a policy may be called.
var policyName = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,59}$`)

// Parse reads a policy file. What it leaves out of its parameters and rules is as shipped.
// Reading is strict: an error is an *[invalid.File]; its problems have line, column and
// what was probably meant. name is the file's, for messages.
func Parse(name string, source []byte) (Policy, error) {
	base, err := ShippedSet()
	if err != nil {
		return Policy{}, err
	}
	return parse(name, source, base)
}

// parse reads a policy file on top of the policy of base that fits every context; base may be nil.
func parse(name string, source []byte, base *Set) (Policy, error) {
	r := &reader{}
	p := r.read(bytes.TrimPrefix(source, []byte("\ufeff")), base) // the byte-order mark that some editors put first
	if len(r.problems) > 0 {
		return Policy{}, &invalid.File{Name: name, Problems: r.problems}
	}
	return p, nil
}

// reader reads one policy file and gathers what is wrong with it.
type reader struct {
	file     *ast.File
	problems []invalid.Problem
}

func (r *reader) problem(at *token.Token, path, nearest, format string, args ...any) {
	p := invalid.Problem{Path: path, Nearest: nearest, Message: fmt.Sprintf(format, args...)}
	if at != nil && at.Position != nil {
		p.Line, p.Column = at.Position.Line, at.Position.Column
	}
	r.problems = append(r.problems, p)
}

func (r *reader) read(source []byte, base *Set) Policy {
	p := Policy{Source: string(source)}
	if !r.plain(source) {
		return p
	}
	var err error
	if r.file, err = syntax(source, 0); err != nil {
		r.refused(err, "", nil)
		return p
	}
	if second := r.second(); second != nil {
		r.problem(second.GetToken(), "", "", "a second YAML document; a file is one policy")
		return p
	}
	p.Decision = Type(r.word("decision"))
	empty, known := bodies[p.Decision]
	if !known {
		names := plainWords(Types())
		r.problem(r.at("decision"), "decision", text.Nearest(string(p.Decision), names), "want one of %s",
			strings.Join(names, ", "))
		return p
	}
	p.body = empty()
	var under body // what the file leaves out
	if base != nil {
		shipped, err := base.For(p.Decision, Context{})
		if err != nil {
			r.problem(nil, "", "", "%v", err)
			return p
		}
		under = shipped.body
		reflect.ValueOf(p.body).Elem().Set(reflect.ValueOf(under).Elem())
	}
	sections := p.body.Sections()
	for key, at := range map[string]any{"decision": &p.Decision, "name": &p.Name, "version": &p.Version,
		"reasoning": &p.Reasoning, "selector": &p.Selector} {
		sections[key] = at
	}
	r.strictly(sections)
	if under != nil {
		inherit(reflect.ValueOf(p.body).Elem(), reflect.ValueOf(under).Elem())
	}
	p.Reasoning = strings.TrimSpace(p.Reasoning)
	r.head(p)
	for _, wrong := range append(p.Selector.check("selector"), p.body.Check()...) {
		wrong.Line, wrong.Column = r.place(wrong.Path)
		r.problems = append(r.problems, wrong)
	}
	return p
}

// plain reports whether the source is text that is safe to be parsed: short, flat, and
// without anchors, which a few bytes can make very large.
func (r *reader) plain(source []byte) bool {
	switch {
	case len(source) > maxFile:
		r.problem(nil, "", "", "the file has %d bytes; policies take at most %d", len(source), maxFile)
	case !utf8.Valid(source):
		r.problem(nil, "", "", "the file is not UTF-8 text")
	default:
		return r.flat(source)
	}
	return false
}

func (r *reader) flat(source []byte) bool {
	depth := 0
	for _, t := range lexer.Tokenize(string(source)) {
		switch t.Type {
		case token.AnchorType, token.AliasType, token.TagType, token.MergeKeyType:
			r.problem(t, "", "", "policies use no anchors, aliases or tags")
			return false
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
		if depth > maxDepth || t.Position != nil && t.Position.IndentNum > 4*maxDepth {
			r.problem(t, "", "", "the file is nested too deeply")
			return false
		}
	}
	return true
}

// syntax parses YAML. The library has no contract about panics, and the input is a
// stranger's, so a panic becomes an error.
func syntax(source []byte, mode parser.Mode) (f *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("not readable as YAML: %v", p)
		}
	}()
	return parser.ParseBytes(source, mode)
}

// strictly reads the sections of the file into where they belong, and lets nothing else
// stand in the file. What a section leaves out stays as it was.
func (r *reader) strictly(into map[string]any) {
	names := slices.Sorted(maps.Keys(into))
	seen := map[string]bool{}
	for _, v := range r.top() {
		key := v.Key.GetToken()
		switch at, ok := into[key.Value]; {
		case !ok:
			r.problem(key, key.Value, text.Nearest(key.Value, names), "there is no such key; there are %s",
				strings.Join(names, ", "))
		case seen[key.Value]:
			r.problem(key, key.Value, "", "set twice; keep one")
		case v.Value.Type() != ast.NullType: // else everything under it is commented out
			if err := yaml.NodeToValue(v.Value, at, yaml.Strict()); err != nil {
				r.refused(err, key.Value, keys(reflect.TypeOf(at)))
			}
		}
		seen[key.Value] = true
	}
}

// refused notes what the YAML library says, with its place.
func (r *reader) refused(err error, section string, keys []string) {
	var known yaml.Error
	if !errors.As(err, &known) {
		line, _, _ := strings.Cut(err.Error(), "\n")
		r.problem(r.at(section), section, "", "%s", line)
		return
	}
	var unknown *yaml.UnknownFieldError
	if at := known.GetToken(); errors.As(err, &unknown) && at != nil {
		r.problem(at, section+"."+at.Value, text.Nearest(at.Value, keys), "there is no such key")
		return
	}
	r.problem(known.GetToken(), section, "", "%s", known.GetMessage())
}

// head checks what every policy has.
func (r *reader) head(h Policy) {
	switch {
	case !policyName.MatchString(h.Name):
		r.problem(r.at("name"), "name", "",
			"want a name of small letters, digits and hyphens, such as ask-early-about-schemas")
	case h.Version < 1:
		r.problem(r.at("version"), "version", "", "want a whole number from 1; raise it when you change the file")
	}
}

// place is where a key stands; 0, 0 when it does not stand in the file.
func (r *reader) place(path string) (line, column int) {
	if t := r.at(path); t != nil && t.Position != nil {
		return t.Position.Line, t.Position.Column
	}
	return 0, 0
}

// top is the file's own mapping; nothing when it has none.
func (r *reader) top() []*ast.MappingValueNode {
	for _, d := range r.file.Docs {
		if values := entries(d.Body); values != nil {
			return values
		}
	}
	return nil
}

// second is the body of a second document of the file; nil when it has none.
func (r *reader) second() ast.Node {
	var bodies []ast.Node
	for _, d := range r.file.Docs {
		if d.Body != nil && d.Body.Type() != ast.NullType && d.Body.Type() != ast.CommentType {
			bodies = append(bodies, d.Body)
		}
	}
	if len(bodies) < 2 {
		return nil
	}
	return bodies[1]
}

// word is the value of a key of the file's own mapping, as it is written.
func (r *reader) word(key string) string {
	for _, v := range r.top() {
		if v.Key.GetToken().Value == key && v.Value.GetToken() != nil {
			return v.Value.GetToken().Value
		}
	}
	return ""
}

// at is the token of a key by its path with dots, or of the nearest key above it; nil when
// not even its first part stands in the file.
func (r *reader) at(path string) (found *token.Token) {
	values := r.top()
	for _, part := range strings.Split(path, ".") {
		i := slices.IndexFunc(values, func(v *ast.MappingValueNode) bool { return v.Key.GetToken().Value == part })
		if i < 0 {
			return found
		}
		found, values = values[i].Key.GetToken(), entries(values[i].Value)
	}
	return found
}

// entries are a mapping's; nil when n is none.
func entries(n ast.Node) []*ast.MappingValueNode {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}
	}
	return nil
}

// inherit gives every table the entries that it lacks and the shipped one has: the YAML
// library replaces a table as a whole. What is shipped stays as it is.
func inherit(v, from reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				inherit(v.Field(i), from.Field(i))
			}
		}
	case reflect.Map:
		whole := reflect.MakeMap(v.Type())
		for _, m := range []reflect.Value{from, v} {
			for e := m.MapRange(); e.Next(); {
				value := reflect.New(e.Value().Type()).Elem()
				value.Set(e.Value())
				if under := whole.MapIndex(e.Key()); under.IsValid() {
					inherit(value, under)
				}
				whole.SetMapIndex(e.Key(), value)
			}
		}
		v.Set(whole)
	}
}

// keys are the keys that a file read into a type can have, at any depth.
func keys(t reflect.Type) (all []string) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return keys(t.Elem())
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && name != "-" {
				all = append(all, name)
			}
			all = append(all, keys(f.Type)...)
		}
	}
	return all
}

func plainWords[S ~string](words []S) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}

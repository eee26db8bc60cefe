package policies

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/sia-bot/sia/sia/invalid"
	"github.com/sia-bot/sia/sia/yamlfile"
)

// Mutation is one change of a policy: of its selector, one rule or one parameter.
type Mutation struct {
	Path   string `json:"path"`   // as in [Change]: parameters.threshold, rules.2.bonus.retry, selector.language
	Value  string `json:"value"`  // in YAML: 0.4, [go, rust]
	Reason string `json:"reason"` // for display
}

// String returns the change without its reason.
func (m Mutation) String() string { return m.Path + ": " + m.Value }

// maxValue is the maximum length of a mutation's value, in bytes.
const maxValue = 2000

// mutable are the sections that a mutation may change.
var mutable = []string{"selector", "parameters", "rules"}

// Mutate returns the policy with one change and its version increased by one. The rest of the file is
// unchanged, including comments. It returns an error if the path cannot be changed, if the resulting file would be
// invalid, or if nothing or something else would change.
func Mutate(p Policy, m Mutation) (Policy, error) {
	parts := strings.Split(m.Path, ".")
	switch {
	case !slices.Contains(mutable, parts[0]):
		return Policy{}, fmt.Errorf("change %s of %s: only what is below %s can be changed", m.Path, p.Name,
			strings.Join(mutable, ", "))
	case len(m.Value) > maxValue || strings.TrimSpace(m.Value) == "" || strings.ContainsAny(m.Value, "#\n\r"):
		return Policy{}, fmt.Errorf("change %s of %s: want a value in one line of YAML, of at most %d bytes", m.Path, p.Name,
			maxValue)
	}
	source, err := written([]byte(p.Source), parts, strings.TrimSpace(m.Value))
	if err == nil {
		source, err = written(source, []string{"version"}, strconv.Itoa(p.Version+1))
	}
	if err != nil {
		return Policy{}, fmt.Errorf("change %s of %s: %w", m.Path, p.Name, err)
	}
	out, err := Parse(p.Name+".yml", source)
	var bad *invalid.File
	if errors.As(err, &bad) {
		return Policy{}, fmt.Errorf("change %s of %s to %s: %w", m.Path, p.Name, m.Value, bad)
	}
	if err != nil {
		return Policy{}, err
	}
	out.Layer = p.Layer
	changed := false
	for _, c := range Diff(p, out) {
		switch {
		case c.Path == m.Path || strings.HasPrefix(c.Path, m.Path+"."):
			changed = true
		case c.Path != "version":
			return Policy{}, fmt.Errorf("change %s of %s: that would also change %s", m.Path, p.Name, c)
		}
	}
	if !changed {
		return Policy{}, fmt.Errorf("change %s of %s: that is what it decides by already", m.Path, p.Name)
	}
	return out, nil
}

// written returns a YAML file with another value at a path. The rest of the file stays as it is.
func written(source []byte, path []string, value string) ([]byte, error) {
	f, err := yamlfile.Syntax(source, parser.ParseComments, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, err
	}
	if node, found := at(f, path); found {
		if start, end, ok := extent(source, node); ok {
			return slices.Concat(source[:start], []byte(value), source[end:]), nil
		}
		return replacedBlock(source, node, value)
	}
	for depth := len(path) - 1; depth > 0; depth-- {
		if parent, found := at(f, path[:depth]); found {
			return added(source, parent, path[depth:], value)
		}
	}
	return append(slices.Clip(source), "\n"+nested(path, value, "\n")+"\n"...), nil
}

// lineEnd is the rest of a key's line and the lines below it, up to its value.
var lineEnd = regexp.MustCompile(`([ \t]*(?:#[^\r\n]*)?)\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ ]*$`)

// replacedBlock returns a YAML file with another value instead of a list or table in several lines and the comments in
// it. A comment on the line of its key is kept.
func replacedBlock(source []byte, node ast.Node, value string) ([]byte, error) {
	first, bullet := node.GetToken(), "-"
	if entries := yamlfile.Entries(node); len(entries) > 0 {
		first, bullet = entries[0].Key.GetToken(), ""
	}
	start, found := offset(source, first)
	if _, isList := node.(*ast.SequenceNode); !found || !isList && bullet != "" {
		return nil, errors.New("its present value can't be replaced; write that in one line")
	}
	end, indent := start, first.Position.Column-1
	line, rest, more := strings.Cut(string(source[start:]), "\n")
	for at := start; ; line, rest, more = strings.Cut(rest, "\n") {
		text := strings.TrimSpace(line)
		own := len(line) - len(strings.TrimLeft(line, " "))
		comment := text == "" || text[0] == '#'
		if at > start && !comment && (own < indent || own == indent && !strings.HasPrefix(text, bullet)) {
			break
		}
		if !comment {
			end = at + len(strings.TrimRight(line, "\r"))
		}
		if at += len(line) + 1; !more {
			break
		}
	}
	if key := lineEnd.FindSubmatchIndex(source[:start]); key != nil {
		return slices.Concat(source[:key[0]], []byte(" "+value), source[key[0]:key[3]], source[end:]), nil
	}
	return slices.Concat(source[:start], []byte(value), source[end:]), nil
}

// added returns a YAML file with a value at a path below a table that lacks the path's first key. The value becomes the
// table's first.
func added(source []byte, table ast.Node, path []string, value string) ([]byte, error) {
	var start int
	var text string
	found := false
	if m, ok := table.(*ast.MappingNode); ok && m.IsFlowStyle {
		start, found = offset(source, m.Start)
		start++
		text = strings.Join(path, ": {") + ": " + value + strings.Repeat("}", len(path)-1)
		if len(m.Values) > 0 {
			text += ", "
		}
	} else if entries := yamlfile.Entries(table); len(entries) > 0 {
		first := entries[0].Key.GetToken()
		start, found = offset(source, first)
		line := "\n" + strings.Repeat(" ", first.Position.Column-1)
		text = nested(path, value, line) + line
	}
	if !found {
		return nil, errors.New("there is no such place")
	}
	return slices.Concat(source[:start], []byte(text), source[start:]), nil
}

// nested returns tables in one another with only one value. line begins a line of the outermost one.
func nested(path []string, value, line string) string {
	var b strings.Builder
	for i, p := range path {
		if i > 0 {
			b.WriteString(line + strings.Repeat("  ", i))
		}
		b.WriteString(p + ":")
	}
	return b.String() + " " + value
}

// at returns the node at a path.
func at(f *ast.File, path []string) (node ast.Node, found bool) {
	for _, d := range f.Docs {
		if d.Body != nil {
			node = d.Body
			break
		}
	}
	for _, p := range path {
		if list, ok := node.(*ast.SequenceNode); ok {
			n, err := strconv.Atoi(p)
			if err != nil || n < 1 || n > len(list.Values) {
				return nil, false
			}
			node = list.Values[n-1]
			continue
		}
		values := yamlfile.Entries(node)
		i := slices.IndexFunc(values, func(v *ast.MappingValueNode) bool { return v.Key.GetToken().Value == p })
		if i < 0 {
			return nil, false
		}
		node = values[i].Value
	}
	return node, node != nil
}

// extent returns the range of a value that is a word, or a list or table in brackets.
func extent(source []byte, node ast.Node) (start, end int, ok bool) {
	first, last, flow := node.GetToken(), node.GetToken(), true
	switch n := node.(type) {
	case *ast.SequenceNode:
		first, last, flow = n.Start, n.End, n.IsFlowStyle
	case *ast.MappingNode:
		first, last, flow = n.Start, n.End, n.IsFlowStyle
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode:
	default:
		return 0, 0, false
	}
	if !flow {
		return 0, 0, false
	}
	start, ok = offset(source, first)
	if !ok {
		return 0, 0, false
	}
	end, ok = offset(source, last)
	if !ok || last.Type == token.LiteralType || last.Type == token.FoldedType {
		return 0, 0, false
	}
	end += len(strings.TrimSpace(last.Origin))
	return start, end, end <= len(source)
}

// offset returns the byte offset of a token; ok is false when the source has other text there.
func offset(source []byte, t *token.Token) (at int, ok bool) {
	if t == nil || t.Position == nil {
		return 0, false
	}
	lines := strings.SplitAfter(string(source), "\n")
	if t.Position.Line < 1 || t.Position.Line > len(lines) {
		return 0, false
	}
	for _, l := range lines[:t.Position.Line-1] {
		at += len(l)
	}
	line := lines[t.Position.Line-1]
	for range t.Position.Column - 1 {
		_, n := utf8.DecodeRuneInString(line)
		at, line = at+n, line[n:]
	}
	return at, strings.HasPrefix(line, strings.TrimSpace(t.Origin))
}

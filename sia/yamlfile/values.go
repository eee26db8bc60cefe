package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
)

// Limits of [Values].
const (
	maxText  = 256 << 10 // bytes of a file; the library's time is quadratic in them
	maxLines = 8000      // lines of a file
	maxDepth = 100       // nested values, with expanded aliases
	maxNodes = 100_000   // nodes of a file, with expanded aliases
	maxBytes = 1 << 20   // bytes of keys and values, with expanded aliases
)

// Values parses YAML that is not written for SIA, such as a workflow: map[string]any for a mapping, []any for a list,
// and a string for any other value. Aliases are expanded, and the size of the result is bounded.
func Values(text []byte) (doc any, err error) {
	if len(text) > maxText || bytes.Count(text, []byte{'\n'}) > maxLines || !utf8.Valid(text) || TooDeep(text) {
		return nil, errors.New("more text than such a file needs")
	}
	f, err := Syntax(text, 0)
	if err != nil {
		return nil, err
	}
	if len(f.Docs) != 1 {
		return nil, fmt.Errorf("%d YAML documents; want one", len(f.Docs))
	}
	r := reader{anchors: map[string]ast.Node{}, left: maxNodes, bytes: maxBytes}
	doc, ok := r.value(f.Docs[0].Body, 0)
	if !ok {
		return nil, errors.New("more YAML than such a file needs")
	}
	return doc, nil
}

// reader reads the nodes of a YAML document.
type reader struct {
	anchors map[string]ast.Node
	left    int // remaining number of nodes
	bytes   int // remaining number of bytes
}

// value returns the value of a node; not ok if it is too large or too deep, for example because of aliases.
func (r *reader) value(n ast.Node, depth int) (says any, ok bool) {
	if r.left--; r.left < 0 || depth > maxDepth || n == nil {
		return nil, n == nil
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return r.mapping(n.Values, depth)
	case *ast.MappingValueNode:
		return r.mapping([]*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		out := make([]any, len(n.Values))
		for i, v := range n.Values {
			if out[i], ok = r.value(v, depth+1); !ok {
				return nil, false
			}
		}
		return out, true
	case *ast.AnchorNode:
		r.anchors[n.Name.GetToken().Value] = n.Value
		return r.value(n.Value, depth+1)
	case *ast.AliasNode:
		return r.value(r.anchors[n.Value.GetToken().Value], depth+1)
	case *ast.TagNode:
		return r.value(n.Value, depth+1)
	case *ast.LiteralNode:
		return r.text(n.Value.Value)
	case *ast.NullNode:
		return nil, true
	}
	return r.text(n.GetToken().Value)
}

// text counts a key or value; not ok if all are too long.
func (r *reader) text(s string) (any, bool) {
	r.bytes -= len(s)
	return s, r.bytes >= 0
}

func (r *reader) mapping(values []*ast.MappingValueNode, depth int) (any, bool) {
	out := map[string]any{}
	for _, v := range values {
		value, ok := r.value(v.Value, depth+1)
		key := v.Key.GetToken().Value
		if _, fits := r.text(key); !ok || !fits {
			return nil, false
		}
		out[key] = value
	}
	return out, true
}

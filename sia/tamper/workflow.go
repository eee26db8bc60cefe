package tamper

import (
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/visible"
)

// workflow reports changes of a CI system's configuration: what it runs is what the
// checks are.
func (c *Change) workflow() []Finding {
	if !roleOf(c.Path).ci && !roleOf(c.before()).ci {
		return nil
	}
	switch c.Status {
	case "added":
		return c.places(ChangedWorkflow, "a workflow was added")[:1]
	case "deleted":
		return []Finding{{Kind: ChangedWorkflow, Path: c.Path, Why: "a workflow was deleted"}}
	case "renamed":
		return append(c.places(ChangedWorkflow, "a workflow was renamed or changed"),
			Finding{Kind: ChangedWorkflow, Path: c.Path, Why: "a workflow was renamed", Text: c.OldPath + " → " + c.Path})
	}
	return c.places(ChangedWorkflow, "a workflow was changed")
}

// steady are the files of which some changes are understood.
var steady = lazyregexp.New(`^\.github/workflows/[\w.-]+\.ya?ml$|^\.github/actions/[\w./-]+/action\.ya?ml$|` +
	`^\.pre-commit-config\.yaml$`)

const (
	maxYAML   = 100_000 // bytes of a workflow that is read
	maxNested = 40      // brackets that are open, and items and keys that begin on one line
)

// plain reports whether another reader of YAML surely sees the same lines: no character
// that somebody does not see or takes for the end of a line; and whether nothing is nested
// so deeply that it hurts to read it.
func plain(text string) bool {
	open := 0
	for line := range strings.Lines(text) {
		for _, c := range line {
			switch c {
			case '[', '{':
				open++
			case ']', '}':
				open--
			}
			if open > maxNested {
				return false
			}
		}
		if strings.Count(line, "- ")+strings.Count(line, "? ") > maxNested {
			return false
		}
	}
	return len(text) <= maxYAML && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return r != coloured && visible.Hidden(r)
	})
}

// coloured is behind a sign that is to be shown in colours, as in GitHub's own templates.
const coloured = 0xfe0f

// document reads a YAML file: map[string]any for a mapping, []any for a sequence, and a
// string of its type and text for any other value. It is not ok when the file is none, or
// not surely understood.
func document(rows []row) (doc any, ok bool) {
	var text strings.Builder
	for _, r := range rows {
		text.WriteString(r.raw + "\n")
	}
	if !plain(text.String()) {
		return nil, false
	}
	f, err := parser.ParseBytes([]byte(text.String()), 0)
	if err != nil || len(f.Docs) != 1 {
		return nil, false
	}
	return understood(f.Docs[0].Body)
}

// understood is what a node says. Anchors, aliases, merges and tags are not understood.
func understood(n ast.Node) (says any, ok bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		out := map[string]any{}
		for _, v := range n.Values {
			key, isString := v.Key.(*ast.StringNode)
			if !isString || out[key.Value] != nil {
				return nil, false
			}
			if out[key.Value], ok = understood(v.Value); !ok {
				return nil, false
			}
		}
		return out, true
	case *ast.SequenceNode:
		out := make([]any, len(n.Values))
		for i, v := range n.Values {
			if out[i], ok = understood(v); !ok {
				return nil, false
			}
		}
		return out, true
	case *ast.LiteralNode:
		return n.Start.Value + "\n" + n.Value.Value, true
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return n.Type().String() + " " + n.GetToken().Value, true
	}
	return nil, false
}

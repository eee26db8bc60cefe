package api

import (
	"encoding/json"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// selected removes the fields from a GraphQL answer that its query does not select, as GitHub does: an application has
// to select what it reads. An object with a __typename loses the fields of fragments on other types.
func selected(query string, a answer) (answer, error) {
	body, ok := a.value.(object)
	if !ok || body["data"] == nil {
		return a, nil
	}
	doc, err := parser.ParseQuery(&ast.Source{Input: query})
	if err != nil {
		return graphqlError("GRAPHQL_PARSE_ERROR", err.Error()), nil
	}
	if len(doc.Operations) != 1 {
		return graphqlError("GRAPHQL_PARSE_ERROR", "the simulator takes one operation"), nil
	}
	text, err := json.Marshal(body["data"])
	if err != nil {
		return a, err
	}
	var data any
	if err := json.Unmarshal(text, &data); err != nil {
		return a, err
	}
	out := object{"data": choose(doc, doc.Operations[0].SelectionSet, data)}
	if errs, there := body["errors"]; there {
		out["errors"] = errs
	}
	a.value = out
	return a, nil
}

// choose is a value with the selected fields of its objects.
func choose(doc *ast.QueryDocument, asked ast.SelectionSet, value any) any {
	switch value := value.(type) {
	case []any:
		out := make([]any, len(value))
		for i := range value {
			out[i] = choose(doc, asked, value[i])
		}
		return out
	case map[string]any:
		if len(asked) == 0 {
			return value
		}
		out := map[string]any{}
		chooseFields(doc, asked, value, out)
		return out
	}
	return value
}

// merge joins the results of two selections of one field.
// https://spec.graphql.org/October2021/#MergeSelectionSets()
func merge(a, b any) any {
	switch b := b.(type) {
	case map[string]any:
		if a, ok := a.(map[string]any); ok {
			for name, value := range b {
				a[name] = merge(a[name], value)
			}
			return a
		}
	case []any:
		if a, ok := a.([]any); ok {
			for i := range b {
				b[i] = merge(a[i], b[i])
			}
		}
	}
	return b
}

func chooseFields(doc *ast.QueryDocument, asked ast.SelectionSet, from, to map[string]any) {
	fragment := func(condition string, of ast.SelectionSet) {
		if name, told := from["__typename"].(string); !told || condition == "" || name == condition {
			chooseFields(doc, of, from, to)
		}
	}
	for _, s := range asked {
		switch s := s.(type) {
		case *ast.Field:
			value, there := from[s.Alias]
			if !there {
				value, there = from[s.Name] // the answer knows the query's own aliases only
			}
			if there {
				to[s.Alias] = merge(to[s.Alias], choose(doc, s.SelectionSet, value))
			}
		case *ast.InlineFragment:
			fragment(s.TypeCondition, s.SelectionSet)
		case *ast.FragmentSpread:
			if f := doc.Fragments.ForName(s.Name); f != nil {
				fragment(f.TypeCondition, f.SelectionSet)
			}
		}
	}
}

package api

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// selected removes the fields from a GraphQL answer that its query does not select, and the nodes that are not on the
// selected pages, as GitHub does: an application has to select what it reads. An object with a __typename loses the
// fields of fragments on other types.
func (q *query) selected(a answer) (answer, error) {
	body, ok := a.value.(object)
	if !ok || body["data"] == nil {
		return a, nil
	}
	text, err := json.Marshal(body["data"])
	if err != nil {
		return a, err
	}
	var data any
	if err := json.Unmarshal(text, &data); err != nil {
		return a, err
	}
	out := object{"data": q.choose(q.op.SelectionSet, data)}
	if q.refusal != nil {
		return *q.refusal, nil
	}
	if errs, there := body["errors"]; there {
		out["errors"] = errs
	}
	a.value = out
	return a, nil
}

// choose is a value with the selected fields of its objects.
func (q *query) choose(asked ast.SelectionSet, value any) any {
	switch value := value.(type) {
	case []any:
		out := make([]any, len(value))
		for i := range value {
			out[i] = q.choose(asked, value[i])
		}
		return out
	case map[string]any:
		if len(asked) == 0 {
			return value
		}
		out := map[string]any{}
		q.chooseFields(asked, value, out)
		return out
	}
	return value
}

// page is the selected page of a connection; other values stay.
// https://docs.github.com/en/graphql/guides/using-pagination-in-the-graphql-api
func (q *query) page(f *ast.Field, value any) any {
	whole, _ := value.(map[string]any)
	nodes, is := whole["nodes"].([]any)
	if !is {
		return value
	}
	from, to := 0, len(nodes)
	if after := q.argument(f, "after"); after != nil {
		if from = slices.Index(cursors(nodes), fmt.Sprint(after)) + 1; from == 0 {
			q.refuse("INVALID_CURSOR_ARGUMENTS", "`%v` does not appear to be a valid cursor.", after)
		}
	}
	switch {
	case f.Arguments.ForName("first") != nil:
		to = min(to, from+q.size(f, "first"))
	case f.Arguments.ForName("last") != nil:
		from = max(from, to-q.size(f, "last"))
	default:
		q.refuse("MISSING_PAGINATION_BOUNDARIES",
			"You must provide a `first` or `last` value to properly paginate the `%s` connection.", f.Name)
	}
	info := map[string]any{"hasPreviousPage": from > 0, "hasNextPage": to < len(nodes), "startCursor": nil,
		"endCursor": nil}
	if at := cursors(nodes); from < to {
		info["startCursor"], info["endCursor"] = at[from], at[to-1]
	}
	page := maps.Clone(whole)
	page["nodes"], page["totalCount"], page["pageInfo"] = nodes[from:to], float64(len(nodes)), info
	return page
}

// cursors are the positions of nodes. One stays at its node when others are added.
func cursors(nodes []any) (all []string) {
	for i, n := range nodes {
		o, _ := n.(map[string]any)
		var key any = i
		for _, name := range []string{"context", "number", "oid", "databaseId"} {
			if v := o[name]; v != nil {
				key = v
			}
		}
		all = append(all, base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "cursor:v2:%v", key)))
	}
	return all
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

func (q *query) chooseFields(asked ast.SelectionSet, from, to map[string]any) {
	fragment := func(condition string, of ast.SelectionSet) {
		if name, told := from["__typename"].(string); !told || condition == "" || name == condition {
			q.chooseFields(of, from, to)
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
				to[s.Alias] = merge(to[s.Alias], q.choose(s.SelectionSet, q.page(s, value)))
			}
		case *ast.InlineFragment:
			fragment(s.TypeCondition, s.SelectionSet)
		case *ast.FragmentSpread:
			if f := q.doc.Fragments.ForName(s.Name); f != nil {
				fragment(f.TypeCondition, f.SelectionSet)
			}
		}
	}
}

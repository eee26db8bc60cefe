package api

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// points are what a GraphQL call counts for: a hundredth of the requests that its connections take when every page is
// full, and at least one. What can't be read, or is no query, counts for one.
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#primary-rate-limit
func points(in graphqlRequest) int {
	doc, err := parser.ParseQuery(&ast.Source{Input: in.Query})
	if err != nil || len(doc.Operations) != 1 {
		return 1
	}
	return max(1, (connections(doc, doc.Operations[0].SelectionSet, in.Variables, 1)+50)/100)
}

// connections are the requests that the connections of a selection take, which is made of so many nodes.
func connections(doc *ast.QueryDocument, asked ast.SelectionSet, vars map[string]any, nodes int) (requests int) {
	for _, s := range asked {
		switch s := s.(type) {
		case *ast.Field:
			page := nodes
			for _, name := range []string{"first", "last"} {
				if a := s.Arguments.ForName(name); a != nil {
					n, _ := a.Value.Value(vars)
					page = nodes * count(n)
					requests += nodes
				}
			}
			requests += connections(doc, s.SelectionSet, vars, page)
		case *ast.InlineFragment:
			requests += connections(doc, s.SelectionSet, vars, nodes)
		case *ast.FragmentSpread:
			if f := doc.Fragments.ForName(s.Name); f != nil {
				requests += connections(doc, f.SelectionSet, vars, nodes)
			}
		}
	}
	return requests
}

// count is a number of a query, or of its variables.
func count(v any) int {
	switch n := v.(type) {
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return 1
}

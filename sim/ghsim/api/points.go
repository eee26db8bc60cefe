package api

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// points is the rate limit cost of a GraphQL call: a hundredth of the requests that its connections take when every
// page is full, and at least one. An invalid query, or a mutation, costs one.
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#primary-rate-limit
func points(in graphqlRequest) int {
	doc, err := parser.ParseQuery(&ast.Source{Input: in.Query})
	if err != nil || len(doc.Operations) != 1 {
		return 1
	}
	return max(1, (connections(doc, doc.Operations[0].SelectionSet, in.Variables, 1)+50)/100)
}

// connections is the number of requests of a selection's connections, for the given number of parent nodes.
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

// count is a number in a query, or in its variables.
func count(v any) int {
	switch n := v.(type) {
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return 1
}

package api

import (
	"github.com/vektah/gqlparser/v2/ast"
)

// GitHub's limits of what a GraphQL call requests.
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#node-limit
const (
	maxPage  = 100     // nodes on a page
	maxNodes = 500_000 // nodes in all, if every page is full
)

// points is the rate limit cost of the query: a hundredth of the requests that its connections take when every page is
// full, and at least one. It sets the refusal of a query beyond GitHub's limits.
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#primary-rate-limit
func (q *query) points() int {
	requests, nodes := q.connections(q.op.SelectionSet, 1)
	if nodes > maxNodes {
		q.refuse("MAX_NODE_LIMIT_EXCEEDED",
			"This query requests up to %d possible nodes which exceeds the maximum limit of %d.", nodes, maxNodes)
	}
	return max(1, (requests+50)/100)
}

// connections is the number of requests and nodes of a selection's connections, for the given number of parent nodes.
func (q *query) connections(asked ast.SelectionSet, parents int) (requests, nodes int) {
	within := func(asked ast.SelectionSet, parents int) {
		r, n := q.connections(asked, parents)
		requests, nodes = requests+r, nodes+n
	}
	for _, s := range asked {
		switch s := s.(type) {
		case *ast.Field:
			page := parents
			for _, name := range []string{"first", "last"} {
				if s.Arguments.ForName(name) != nil {
					n := q.size(s, name)
					page = parents * n
					requests, nodes = requests+parents, nodes+page
				}
			}
			within(s.SelectionSet, page)
		case *ast.InlineFragment:
			within(s.SelectionSet, parents)
		case *ast.FragmentSpread:
			if f := q.doc.Fragments.ForName(s.Name); f != nil {
				within(f.SelectionSet, parents)
			}
		}
	}
	return requests, nodes
}

// size is the number of nodes that a field's argument first or last requests. Another than 1 to 100 is refused.
func (q *query) size(f *ast.Field, name string) int {
	n := 1
	switch v := q.argument(f, name).(type) {
	case int64:
		n = int(v)
	case float64:
		n = int(v)
	}
	switch {
	case n > maxPage:
		q.refuse("EXCESSIVE_PAGINATION",
			"Requesting %d records on the `%s` connection exceeds the `%s` limit of %d records.", n, f.Name, name, maxPage)
	case n < 1:
		q.refuse("ARGUMENT_LIMIT", "`%s` on the `%s` connection must be within 1-%d.", name, f.Name, maxPage)
	}
	return min(max(n, 1), maxPage)
}

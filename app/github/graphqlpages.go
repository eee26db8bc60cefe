package github

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxQueries is the maximum number of requests for one response with all of its pages.
const maxQueries = 10

// errChanged reports that a list changed while its pages were read.
var errChanged = errors.New("the list changed between two of its pages")

// graphqlConnection holds one or more successive pages of a connection.
type graphqlConnection[T any] struct {
	TotalCount int `json:"totalCount"`
	PageInfo   *struct {
		HasNextPage bool   `json:"hasNextPage"`
		EndCursor   string `json:"endCursor"`
	} `json:"pageInfo"`
	Nodes []T `json:"nodes"`
}

// isWhole reports whether the pages are there, and none is missing.
func (c *graphqlConnection[T]) isWhole() bool {
	return c != nil && c.PageInfo != nil && !c.PageInfo.HasNextPage && c.Nodes != nil
}

// pageAfter is the page of a connection after a cursor.
type pageAfter struct {
	id, selection, after string
	left                 int                                // number of pages up to the last one
	add                  func(object json.RawMessage) error // adds the page of the object to the connection
}

// next returns the next page of the connection of the object with a global id, or nothing after the last. The selection
// is a format for the number of the page in its query, and names the connection "page"; size is the size of its pages.
func (c *graphqlConnection[T]) next(id, selection string, size int) []pageAfter {
	if c == nil || c.PageInfo == nil || !c.PageInfo.HasNextPage || c.PageInfo.EndCursor == "" {
		return nil
	}
	left := (c.TotalCount - len(c.Nodes) + size - 1) / size
	return []pageAfter{{id, selection, c.PageInfo.EndCursor, left, func(object json.RawMessage) error {
		var got struct {
			Page   *graphqlConnection[T] `json:"page"`
			Rollup struct {
				Page *graphqlConnection[T] `json:"page"`
			} `json:"statusCheckRollup"`
		}
		err := json.Unmarshal(object, &got)
		page := cmp.Or(got.Page, got.Rollup.Page)
		switch {
		case len(object) > 0 && err != nil:
			return err
		case page == nil || page.PageInfo == nil || page.Nodes == nil:
			return errIncomplete
		case page.TotalCount != c.TotalCount:
			return errChanged
		}
		c.PageInfo, c.Nodes = page.PageInfo, append(c.Nodes, page.Nodes...)
		return nil
	}}}
}

// follow reads pages in one request. It returns [errPages] if GitHub answers without one of them: another query may
// succeed.
// https://docs.github.com/en/graphql/guides/using-pagination-in-the-graphql-api
func (g *graphql) follow(ctx context.Context, pages []pageAfter) error {
	var variables, selections []string
	values := map[string]any{}
	for i, p := range pages {
		variables = append(variables, fmt.Sprintf("$id%[1]d: ID!, $after%[1]d: String!", i))
		selections = append(selections, fmt.Sprintf("of%[1]d: node(id: $id%[1]d) { "+p.selection+" }", i))
		values[fmt.Sprint("id", i)], values[fmt.Sprint("after", i)] = p.id, p.after
	}
	var got map[string]json.RawMessage
	query := "query(" + strings.Join(variables, ", ") + ") { " + strings.Join(selections, " ") + " }"
	err := g.send(readOnly(ctx), query, values, &got)
	for i, p := range pages {
		if err == nil {
			err = p.add(got[fmt.Sprint("of", i)])
		}
	}
	var refusal *graphqlError
	if errors.Is(err, errIncomplete) || errors.As(err, &refusal) && refusal.is("NOT_FOUND") { // such as a deleted suite
		return fmt.Errorf("%w: %w", errPages, err)
	}
	return err
}

// graphqlWhole sends a query on the repository, and reads the further pages of its connections: the next one of each in
// one request. It starts again if one changes in the meantime. It returns [errPages] as soon as it is known that
// maxQueries are not enough.
func graphqlWhole[T any, P interface {
	*T
	next() []pageAfter
}](ctx context.Context, g *graphql, q graphqlQuery) (got *T, err error) {
	var pages []pageAfter
	for n := range maxQueries {
		if len(pages) > 0 {
			err = g.follow(ctx, pages)
		} else {
			got, err = graphqlRepository[T](ctx, g, q)
		}
		switch {
		case errors.Is(err, errChanged):
			pages = nil
			continue
		case err != nil:
			return nil, err
		}
		if pages = P(got).next(); len(pages) == 0 {
			return got, nil
		}
		if slices.ContainsFunc(pages, func(p pageAfter) bool { return n+1+p.left > maxQueries }) {
			break
		}
	}
	return nil, fmt.Errorf("%w: the list needs more than %d requests", errPages, maxQueries)
}

package github

import (
	"errors"
	"fmt"
	"iter"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

const (
	perPage  = 100 // GitHub's maximum
	maxPages = 100 // a limit on endless lists
)

// eachPage iterates over a paginated list. It ends with an error if a page can't be read, or lacks its list according
// to [shapes].
func eachPage[T any](fetch func(gh.ListOptions) ([]T, *gh.Response, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		opts := gh.ListOptions{PerPage: perPage, Page: 1}
		for range maxPages {
			items, resp, err := fetch(opts)
			if err != nil {
				var zero T
				yield(zero, err)
				return
			}
			for _, it := range items {
				if !yield(it, nil) {
					return
				}
			}
			next, err := nextPage(resp, opts.Page)
			if err != nil {
				var zero T
				yield(zero, err)
			}
			if next == 0 {
				return
			}
			opts.Page = next
		}
		var zero T
		yield(zero, fmt.Errorf("%w: the list goes on after %d pages", errPages, maxPages))
	}
}

// errPages reports that the link to the next page is unusable, so that the list is incomplete.
var errPages = errors.New("the list's pages can't be followed")

// nextPage returns the number of the next page, or 0 after the last. It uses only the page number of a link, not its
// address.
func nextPage(resp *gh.Response, page int) (int, error) {
	switch {
	case resp == nil || resp.Response == nil:
		return 0, nil
	case resp.NextPage > page:
		return resp.NextPage, nil
	case resp.NextPage != 0 || nextLink.MatchString(resp.Header.Get("Link")):
		return 0, fmt.Errorf("%w: after page %d comes %d", errPages, page, resp.NextPage)
	}
	return 0, nil
}

// nextLink matches a link to a next page.
var nextLink = lazyregexp.New(`rel="?next\b`)

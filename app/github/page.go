package github

import (
	"iter"
	"reflect"

	gh "github.com/google/go-github/v66/github"
)

const (
	perPage  = 100 // the most GitHub gives
	maxPages = 100 // a bound against answers that never end
)

// isHollow reports whether an element of a list is null or an object without
// anything in it.
func isHollow(element any) bool {
	v := reflect.ValueOf(element)
	return v.Kind() == reflect.Pointer && (v.IsNil() || v.Elem().IsZero())
}

// eachPage walks a paginated list. It ends with the error when a page can't be had; one without a list is none.
func eachPage[T any](fetch func(gh.ListOptions) ([]T, *gh.Response, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		opts := gh.ListOptions{PerPage: perPage, Page: 1}
		for range maxPages {
			items, resp, err := fetch(opts)
			if err := wholeList(err, items); err != nil {
				var zero T
				yield(zero, err)
				return
			}
			for _, it := range items {
				if isHollow(it) {
					var zero T
					yield(zero, errNothing)
					return
				}
				if !yield(it, nil) {
					return
				}
			}
			if resp == nil || resp.NextPage <= opts.Page {
				return
			}
			opts.Page = resp.NextPage
		}
	}
}

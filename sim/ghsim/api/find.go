package api

import (
	"net/http"
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// of handles a request about the object in its path.
func of[T any](find func(*call) (T, error), do func(*call, T) (answer, error)) func(*call) (answer, error) {
	return func(c *call) (answer, error) {
		x, err := find(c)
		if err != nil {
			return answer{}, err
		}
		return do(c, x)
	}
}

// with handles a request that has a body.
func with[In any](do func(*call, In) (answer, error)) func(*call) (answer, error) {
	return func(c *call) (answer, error) {
		var in In
		if err := c.decode(&in); err != nil {
			return answer{}, err
		}
		return do(c, in)
	}
}

// ofWith handles a request about the object in its path, with a body.
func ofWith[T, In any](
	find func(*call) (T, error), do func(*call, T, In) (answer, error),
) func(*call) (answer, error) {
	return of(find, func(c *call, x T) (answer, error) {
		return with(func(c *call, in In) (answer, error) { return do(c, x, in) })(c)
	})
}

// found answers 404 for a missing object.
func found[T any](x *T) (*T, error) {
	if x == nil {
		return nil, refusal.NotFound()
	}
	return x, nil
}

// one is the first match in a list, or 404.
func one[T any](all []*T, is func(*T) bool) (*T, error) {
	if n := slices.IndexFunc(all, is); n >= 0 {
		return all[n], nil
	}
	return nil, refusal.NotFound()
}

// level is the permission level for a request about an issue.
func (c *call) level() string {
	if c.r.Method == http.MethodGet {
		return "read"
	}
	return "write"
}

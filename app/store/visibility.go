package store

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Visibility is the set of repositories that a viewer may see. The zero Visibility sees none.
type Visibility struct {
	all   bool
	repos string // JSON array of ids
}

// SeesAll is the visibility of whoever runs the server.
func SeesAll() Visibility { return Visibility{all: true, repos: "[]"} }

// SeesOnly is the visibility of a viewer of these repositories, by GitHub's ids.
func SeesOnly(repos ...int64) Visibility {
	slices.Sort(repos)
	b, err := json.Marshal(append([]int64{}, repos...))
	if err != nil {
		panic(fmt.Sprintf("numbers don't marshal: %v", err)) // they do
	}
	return Visibility{repos: string(b)}
}

// sees is a condition on a column that holds a repository's id; its arguments are those of
// [Visibility.args].
func (s *DB) sees(column string) string {
	return `(? = 1 OR ` + column + ` IN ` + s.listed(numbers) + `)`
}

func (v Visibility) args() []any {
	if v.repos == "" {
		return []any{v.all, "[]"}
	}
	return []any{v.all, v.repos}
}

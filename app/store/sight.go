package store

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Sight is which repositories somebody sees. The zero Sight sees none.
type Sight struct {
	all   bool
	repos string // JSON array of ids
}

// SeesAll is the sight of whoever runs the server.
func SeesAll() Sight { return Sight{all: true, repos: "[]"} }

// SeesOnly is the sight of these repositories, by GitHub's ids.
func SeesOnly(repos ...int64) Sight {
	slices.Sort(repos)
	b, err := json.Marshal(append([]int64{}, repos...))
	if err != nil {
		panic(fmt.Sprintf("numbers don't marshal: %v", err)) // they do
	}
	return Sight{repos: string(b)}
}

// sees is a condition on a column that holds a repository's id; its arguments are those of
// [Sight.args].
func sees(column string) string {
	return `(? OR ` + column + ` IN (SELECT value FROM json_each(?)))`
}

func (v Sight) args() []any {
	if v.repos == "" {
		return []any{v.all, "[]"}
	}
	return []any{v.all, v.repos}
}

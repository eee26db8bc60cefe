package store

// Visibility is the set of repositories that a viewer may see. The zero Visibility sees none.
type Visibility struct {
	all   bool
	repos jsonArray[int64] // GitHub's ids
}

// SeesAll returns the visibility of the server's operator.
func SeesAll() Visibility { return Visibility{all: true} }

// SeesOnly returns the visibility of a viewer of the given repositories, by GitHub's ids.
func SeesOnly(repos ...int64) Visibility { return Visibility{repos: repos} }

// sees returns an SQL condition on a column of repository ids; its arguments are those of
// [Visibility.args].
func (s *DB) sees(column string) string {
	return `(? = 1 OR ` + column + ` ` + s.inList(numbers) + `)`
}

func (v Visibility) args() []any { return []any{v.all, v.repos} }

package config

import (
	"fmt"
	"strings"
)

// Problem is one thing wrong with a file.
type Problem struct {
	Line    int    // 1-based; 0 when the problem is with the file as a whole
	Column  int    // 1-based, in characters; 0 with Line 0
	Path    string // the setting, such as "checks.settle"; "" for the file as a whole
	Message string // what is wrong and what was expected
	Nearest string // what was probably meant; "" when nothing is near
}

// String is "3:9: checks.settel: there is no such setting (did you mean settle?)".
func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "%d:%d: ", p.Line, p.Column)
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	if p.Nearest != "" {
		fmt.Fprintf(&b, " (did you mean %s?)", p.Nearest)
	}
	return b.String()
}

// Invalid is a settings file with problems, in the order of the file.
type Invalid struct {
	Name     string // of the file
	Problems []Problem
}

// Error has one line for each problem, each beginning with the file's name.
func (e *Invalid) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		if lines[i] = e.Name + ":" + p.String(); p.Line == 0 {
			lines[i] = e.Name + ": " + p.String()
		}
	}
	return strings.Join(lines, "\n")
}

// nearest is the word with the least edit distance to name, or "" when even
// that differs in more than a third of its letters (at least two).
func nearest(name string, words []string) string {
	best, least := "", max(2, len(name)/3)+1
	for _, w := range words {
		if d := distance(strings.ToLower(name), strings.ToLower(w)); d < least && d < len(w) {
			best, least = w, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes. Long names are too far away.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

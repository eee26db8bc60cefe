package config

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia/text"
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

// nearestWord is the word with the least edit distance to name. It is "" when even that word
// differs in more than a third of its letters, and in more than two.
func nearestWord(name string, words []string) string {
	best, least := "", max(2, len(name)/3)+1
	for _, w := range words {
		if d := text.EditDistance(strings.ToLower(name), strings.ToLower(w)); d < least && d < len(w) {
			best, least = w, d
		}
	}
	return best
}

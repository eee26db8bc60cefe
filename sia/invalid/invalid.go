// Package invalid describes problems in files that people write: the position, what was
// expected, and what was probably meant. It does not depend on the kind of file.
package invalid

import (
	"fmt"
	"strings"
)

// Problem is one thing wrong with a file.
type Problem struct {
	Line    int    `json:"line,omitempty"`    // 1-based; 0: the problem is with the file as a whole
	Column  int    `json:"column,omitempty"`  // 1-based, in characters; 0 with Line 0
	Path    string `json:"path,omitempty"`    // the key, such as "checks.settle"; "" for the file as a whole
	Message string `json:"message"`           // what is wrong and what was expected
	Nearest string `json:"nearest,omitempty"` // what was probably meant; "": no suggestion
}

// String returns a line such as "3:9: checks.settel: there is no such setting (did you mean settle?)".
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

// File is the error about a file with problems, in the order of the file.
type File struct {
	Name     string // of the file
	Problems []Problem
}

// Error returns one line for each problem, each beginning with the file's name.
func (e *File) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		if lines[i] = e.Name + ":" + p.String(); p.Line == 0 {
			lines[i] = e.Name + ": " + p.String()
		}
	}
	return strings.Join(lines, "\n")
}

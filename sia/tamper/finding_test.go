package tamper

import (
	"fmt"
	"slices"
	"testing"
)

// Among many findings, those for a person are kept in preference to those for the reviewer.
func TestBoundedKeepsWhatAsksAPerson(t *testing.T) {
	expects := func(path string, line int) Finding {
		return Finding{Kind: ChangedExpectation, Path: path, Line: line, Text: "x", Why: "changed"}
	}
	deleted := func(path string, line int) Finding {
		return Finding{Kind: DeletedTest, Path: path, Line: line, Text: "x", Why: "deleted"}
	}
	var oneFile, manyFiles []Finding
	for i := range 300 {
		oneFile = append(oneFile, expects("a_test.go", i+1))
		manyFiles = append(manyFiles, expects(fmt.Sprintf("%03d_test.go", i), 1))
	}
	for name, all := range map[string][]Finding{
		"same line":  {expects("a_test.go", 3), deleted("a_test.go", 3)},
		"one file":   append(oneFile, deleted("a_test.go", 999)),
		"many files": append(manyFiles, deleted("999_test.go", 1)),
	} {
		got := bounded(slices.Clone(all))
		if !slices.ContainsFunc(got, func(f Finding) bool { return f.Asks() == Person }) {
			t.Errorf("%s: of %d, none of %d asks a person", name, len(all), len(got))
		}
		if len(got) > maxFindings {
			t.Errorf("%s: %d are shown", name, len(got))
		}
	}
}

package work

import (
	"testing"

	"github.com/sia-bot/sia/sia"
)

// A reproduction of a fault counts only if nothing but tests was changed, as far as that is known.
func TestOnlyTests(t *testing.T) {
	for _, tt := range []struct {
		name  string
		diff  sia.DiffStat
		holds bool
	}{
		{"a test", sia.DiffStat{Files: 1, Paths: []string{"sum_test.go"}}, true},
		{"a test and its data", sia.DiffStat{Files: 2, Paths: []string{"testdata/sum.txt", "sum_test.go"}}, true},
		{"the code, too", sia.DiffStat{Files: 2, Paths: []string{"sum.go", "sum_test.go"}}, false},
		{"more than is shown", sia.DiffStat{Files: 51, Paths: []string{"sum_test.go"}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fact := sia.AttemptEnded{Diff: tt.diff, Check: &sia.CheckRun{Holds: true}}
			if requireOnlyTests(&fact); fact.Check.Holds != tt.holds || !tt.holds && fact.Check.Excerpt == "" {
				t.Errorf("%+v", fact.Check)
			}
		})
	}
}

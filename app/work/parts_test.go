package work

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
	"github.com/sia-bot/sia/sia/secret"
)

// remoteChecks are machines that run commands; each call takes one result.
type remoteChecks struct {
	Remote
	results []sia.CheckRun
	ran     [][]string
}

// Check implements Remote.
func (r *remoteChecks) Check(
	_ context.Context, _ sia.Task, _ sia.Effect, _ string, commands []string, _ *sia.CheckRun,
) ([]sia.CheckRun, error) {
	got := r.results[:1]
	r.ran, r.results = append(r.ran, commands), r.results[1:]
	return got, nil
}

// A baseline that could not be found out is not kept: the next run tries again, and the repository's tests don't count
// after the merge.
func TestMissingBaseline(t *testing.T) {
	now := time.Date(2026, 5, 4, 14, 0, 0, 0, time.UTC)
	s := storetest.Open(t, store.Config{Now: func() time.Time { return now }})
	task, err := s.Task(t.Context(), working(t, s, now))
	if err != nil {
		t.Fatal(err)
	}
	task.Attempt().Parts = []sia.Part{{Part: plan.Part{Check: "make"}, Kind: sia.PartOfPlan}}
	missing := sia.CheckRun{Missing: "no runner was free"}
	fails := sia.CheckRun{Command: "go test", Tests: []string{"TestOld"}}
	remote := &remoteChecks{results: []sia.CheckRun{missing, {}, fails, {}, {}}}
	w := &attemptWorker{common: &common{Deps: Deps{Store: s, Secrets: &secret.Masker{}, Remote: remote}}}
	r := agentRun{part: &task.Attempt().Parts[0]}
	check := func(want *sia.CheckRun) {
		t.Helper()
		got, err := w.baseline(t.Context(), task, r)
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("baseline %+v, %v; want %+v", got, err, want)
		}
		if _, err := w.checkMerged(t.Context(), task, sia.Effect{}, "merged"); err != nil {
			t.Error(err)
		}
	}
	check(nil)
	check(&fails)
	check(&fails)
	if !slices.EqualFunc(remote.ran, [][]string{{""}, {"make"}, {""}, {"make", ""}, {"make", ""}}, slices.Equal) {
		t.Errorf("ran %q", remote.ran)
	}
}

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

package stuck

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
)

func attempt(n int, outcome sia.AttemptOutcome, signature string, passing []string, hunks ...uint64) sia.Attempt {
	a := sia.Attempt{Number: n, Outcome: outcome, Passing: passing, Hunks: hunks}
	if signature != "" {
		a.Failures = []sia.CheckFailure{{Check: "test", Signature: signature}}
	}
	return a
}

func TestSignals(t *testing.T) {
	failed := func(signature string) []sia.CheckFailure {
		return []sia.CheckFailure{{Check: "test", Signature: signature}}
	}
	both := []string{"build", "test"}
	for _, c := range []struct {
		name string
		past []sia.Attempt
		now  Judged
		want map[sia.SignalName]string // part of each signal's evidence
	}{
		{"the first attempt", nil, Judged{Failures: failed("a"), Criteria: []string{"test"}, Before: []string{"test"},
			Hunks: []uint64{1}},
			map[sia.SignalName]string{sia.SameTask: "attempt 1 ended without passing",
				sia.NoProgress: "green on the base commit and not any more: test"}},
		{"what was open stays open", nil,
			Judged{Failures: failed("a"), Criteria: []string{"build", "e2e", "test"}, Passing: []string{"build"},
				Before: []string{"build"}, Hunks: []uint64{1}},
			map[sia.SignalName]string{sia.SameTask: "attempt 1",
				sia.NoProgress: "none of the 2 checks that were not green before is green now (e2e, test)"}},
		{"one was open, one is lost", nil,
			Judged{Failures: failed("a"), Criteria: []string{"build", "test"}, Before: []string{"build"}, Hunks: []uint64{1}},
			map[sia.SignalName]string{sia.SameTask: "attempt 1",
				sia.NoProgress: "the one check that was not green before is not green now (test); green on the base commit " +
					"and not any more: " +
					"build"}},
		{"a criterion is met that was open", nil,
			Judged{Failures: failed("a"), Criteria: []string{"build", "test"}, Passing: []string{"build"}, Hunks: []uint64{1}},
			map[sia.SignalName]string{sia.SameTask: "attempt 1"}},
		{"an empty first attempt", nil, Judged{Empty: true},
			map[sia.SignalName]string{sia.SameTask: "attempt 1", sia.NoProgress: "no check ran",
				sia.OutputUnchanged: "changed nothing"}},
		{"everything at once", []sia.Attempt{attempt(1, sia.AttemptFail, "a", []string{"build"}, 1, 2)},
			Judged{Failures: failed("a"), Criteria: both, Passing: []string{"build"}, Hunks: []uint64{1, 2}},
			map[sia.SignalName]string{
				sia.SameTask:   "attempt 2 ended without passing, as attempt 1 did",
				sia.SameError:  "test fails as in attempt 1 (signature a)",
				sia.NoProgress: "1 check is green; after attempt 1: 1", sia.OutputUnchanged: "100 % that of attempt 1",
			}},
		{"another error, and progress", []sia.Attempt{attempt(1, sia.AttemptFail, "a", nil, 1, 2)},
			Judged{Failures: failed("b"), Criteria: both, Passing: []string{"build"}, Hunks: []uint64{1, 3}},
			map[sia.SignalName]string{sia.SameTask: "ended without passing"}},
		{"against the best earlier attempt",
			[]sia.Attempt{attempt(1, sia.AttemptFail, "a", []string{"build", "lint"}), attempt(2, sia.AttemptFail, "b", nil)},
			Judged{Failures: failed("a"), Criteria: both, Passing: []string{"build"}, Hunks: []uint64{1}},
			map[sia.SignalName]string{sia.SameTask: "attempt 3 ended without passing, as attempts 1 and 2 did",
				sia.SameError: "attempt 1", sia.NoProgress: "after attempt 1: 2"}},
		{"a checkpoint counts", []sia.Attempt{attempt(1, sia.AttemptCheckpoint, "", nil, 7)},
			Judged{Failures: failed("a"), Criteria: both, Passing: []string{"build"}, Hunks: []uint64{7}},
			map[sia.SignalName]string{sia.SameTask: "attempt 1", sia.OutputUnchanged: "attempt 1"}},
		{"what the agent did not do", []sia.Attempt{attempt(1, sia.AttemptCancelled, "a", nil, 1),
			attempt(2, sia.AttemptError, "a", nil, 1)},
			Judged{Failures: failed("a"), Criteria: both, Passing: []string{"build"}, Hunks: []uint64{1}},
			map[sia.SignalName]string{sia.SameTask: "attempt 3 ended without passing"}},
		{"failures without a signature", []sia.Attempt{attempt(1, sia.AttemptFail, "", nil)},
			Judged{Failures: failed(""), Criteria: both, Passing: []string{"build"}, Hunks: []uint64{1}},
			map[sia.SignalName]string{sia.SameTask: ""}},
		{"nothing that could be compared", []sia.Attempt{attempt(1, sia.AttemptFail, "a", nil)},
			Judged{Criteria: both, Passing: []string{"build"}}, map[sia.SignalName]string{sia.SameTask: ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Signals(sia.Task{Attempts: append(c.past, attempt(len(c.past)+1, "", "", nil))}, c.now)
			var names []sia.SignalName
			for _, s := range got {
				names = append(names, s.Name)
				if part, ok := c.want[s.Name]; !ok || !strings.Contains(s.Evidence, part) || s.Evidence == "" {
					t.Errorf("%s: %s", s.Name, s.Evidence)
				}
			}
			if len(got) != len(c.want) {
				t.Errorf("fired %v", names)
			}
		})
	}
}

func TestSignalsInOrder(t *testing.T) {
	got := Signals(sia.Task{Attempts: []sia.Attempt{attempt(1, sia.AttemptFail, "a", nil, 1), attempt(2, "", "", nil)}},
		Judged{Failures: []sia.CheckFailure{{Check: "c", Signature: "a"}}, Criteria: []string{"c"}, Hunks: []uint64{1}})
	var names []sia.SignalName
	for _, s := range got {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]sia.SignalName{sia.SameTask, sia.SameError, sia.NoProgress, sia.OutputUnchanged},
		names); diff != "" {
		t.Error(diff)
	}
}

package bandit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/policies/bandit"
)

// outcomesOf returns outcomes of a technique in o/r, the first of them resolved.
func outcomesOf(technique string, resolved, all int) (os []bandit.Outcome) {
	for i := range all {
		os = append(os, bandit.Outcome{Org: "o", Repo: "r", Pattern: []string{"wrong-order", "unknown"}[i%2], Attempt: 1,
			Technique: technique, Resolved: i < resolved})
	}
	return os
}

// A technique is kept when it beats the fifth best after enough outcomes, and retired when it is unlikely to; until
// then the trial continues. Only outcomes of the repository count.
func TestTrial(t *testing.T) {
	for _, tt := range []struct {
		name          string
		resolved, all int
		want          bandit.Verdict
		low, high     float64 // of the chance that it is better
	}{
		{"never tried", 0, 0, bandit.Undecided, 0, 0},
		{"once, resolved", 1, 1, bandit.Undecided, .8, 1},
		{"good, too early", 12, 29, bandit.Undecided, .9, 1},
		{"good", 12, 30, bandit.Kept, .9, 1},
		{"hardly better", 7, 30, bandit.Undecided, .5, .8},
		{"a few failures", 0, 5, bandit.Undecided, .05, .5},
		{"hopeless", 0, 30, bandit.Retired, 0, .05},
		{"resolved a few at first", 2, 80, bandit.Retired, 0, .05},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLearner(t, defaults(t))
			l.Observe(outcomesOf("new", tt.resolved, tt.all)...)
			got := l.Trial("o", "r", "new")
			if got.Verdict != tt.want || got.Tried != float64(tt.all) || got.Resolved != float64(tt.resolved) ||
				got.Better < tt.low || got.Better > tt.high {
				t.Errorf("got %+v", got)
			}
			if elsewhere := l.Trial("o", "r2", "new"); elsewhere != (bandit.Trial{}) {
				t.Errorf("in another repository: %+v", elsewhere)
			}
		})
	}
}

// A verdict is final, regardless of later outcomes, also when the models change. Listed techniques are never on trial.
func TestVerdictStays(t *testing.T) {
	l := newLearner(t, defaults(t))
	l.Observe(outcomesOf("new", 30, 30)...)
	l.Observe(outcomesOf("new", 0, 300)...)
	l.Discount(.25)
	if got := l.Trial("o", "r", "new"); got.Verdict != bandit.Kept || got.Better > .5 {
		t.Errorf("it is better with a chance of %v, and was %q", got.Better, got.Verdict)
	}
	l.Observe(outcomesOf("decomposition", 0, 300)...)
	if got := l.Trial("o", "r", "decomposition"); got.Verdict != bandit.Undecided {
		t.Errorf("a technique of the table was %q", got.Verdict)
	}
}

// Replaying the log, in single calls or all at once, yields the same verdicts at the same outcomes.
func TestTrialsReplay(t *testing.T) {
	log := slices.Concat(outcomesOf("good", 20, 30), outcomesOf("bad", 0, 40), outcomesOf("decomposition", 5, 9),
		outcomesOf("even", 5, 20))
	one, all := newLearner(t, defaults(t)), newLearner(t, defaults(t))
	for _, o := range log {
		one.Observe(o)
	}
	all.Observe(log...)
	for technique, want := range map[string]bandit.Verdict{
		"good": bandit.Kept, "bad": bandit.Retired, "even": bandit.Undecided,
	} {
		a, b := one.Trial("o", "r", technique), all.Trial("o", "r", technique)
		if diff := cmp.Diff(a, b); diff != "" || a.Verdict != want {
			t.Errorf("%s is %q, want %q: %s", technique, a.Verdict, want, diff)
		}
	}
}

// The reason says that a chosen technique is on trial. If nothing else is left, it is chosen.
func TestTrialInWords(t *testing.T) {
	l := newLearner(t, defaults(t))
	r := bandit.Request{Diagnosis: here, Attempt: 2, Candidates: candidates("a", "new"), Trials: []string{"new"}}
	for seed := uint64(0); ; seed++ {
		if r.Seed = seed; l.Decide(r).Choice == "new" {
			break
		}
	}
	if d := l.Decide(r); !d.Explored || !strings.Contains(d.Reason, "It is on trial: a small share of decisions") ||
		!strings.Contains(d.Reason, "the evidence was for a") {
		t.Errorf("explored %v: %s", d.Explored, d.Reason)
	}
	r.Used = []string{"a"}
	if d := l.Decide(r); d.Choice != "new" || d.Propensity != 1 ||
		!strings.Contains(d.Reason, "nothing else is left to try") {
		t.Errorf("%s with probability %v: %s", d.Choice, d.Propensity, d.Reason)
	}
	if r.Attempt = 0; l.Decide(r).Choice != "" {
		t.Error("it is a task's first technique")
	}
}

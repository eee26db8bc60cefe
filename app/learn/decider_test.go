package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/plan"
)

// untried has no policy on trial.
type untried struct{}

func (untried) For(
	_ context.Context, _ sia.Task, typ policies.Type, set *policies.Set, c policies.Context,
) (policies.Policy, error) {
	return set.For(typ, c), nil
}

// always says that parts can be checked.
func always(context.Context) bool { return true }

// decider returns a decider without any evidence.
func decider(t testing.TB, s *store.Store) *Decider {
	t.Helper()
	p := policies.ShippedAssign()
	l := coder.New(p.Parameters)
	return NewDecider(s, l, untried{}, always, func() time.Time { return time.Unix(1_800_000_000, 0) })
}

// Conditions of policies can name exactly the fields of contexts, although neither package imports the other.
func TestConditionsHaveOneName(t *testing.T) {
	classes := []string{classUnchanged, classStuck}
	for _, c := range slices.Backward(failure.Classes) {
		classes = slices.Insert(classes, 0, string(c))
	}
	if d := cmp.Diff(classes, policies.Classes()); d != "" {
		t.Error(d)
	}
	var patterns []string
	for _, p := range sia.Patterns {
		patterns = append(patterns, string(p))
	}
	if d := cmp.Diff(patterns, policies.Patterns()); d != "" {
		t.Error(d)
	}
}

var two = []coder.Candidate{{Coder: "fast", Cost: 5}, {Coder: "strong", Cost: 60}}

// decideTask makes a decision about a task with the shipped policies.
func decideTask(t *testing.T, d *Decider, task sia.Task, q sia.DecisionType, coders []coder.Candidate) sia.Decision {
	t.Helper()
	return decidePart(t, d, task, 0, q, coders)
}

// decidePart makes a decision about a part, with the shipped policies and some of a repository's own.
func decidePart(
	t *testing.T, d *Decider, task sia.Task, part int, q sia.DecisionType, coders []coder.Candidate, own ...string,
) sia.Decision {
	t.Helper()
	set := policies.ShippedSet()
	for _, source := range own {
		p, err := policies.Parse("own.yml", []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		set = set.With(policies.Repository, p)
	}
	f := sia.Effect{Key: fmt.Sprintf("%s/%d/decide-%s", task.ID, len(task.Attempts), q), Attempt: len(task.Attempts),
		Question: q, Part: part}
	out, _, err := d.Decide(t.Context(), set, task, f, "go", coders)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// nextAttempt returns a task about to begin its next attempt.
func nextAttempt(issue int, failed ...string) sia.Task {
	t := sia.Task{ID: sia.NewTaskID(shop.ID, issue), Repo: shop, Title: "Crash on empty input",
		Settings: sia.DefaultSettings(), Approaches: 5, Credits: sia.Ledger{Budget: 100 * sia.Credit},
		Opening: &sia.Opening{Hash: "next", Structure: plan.Whole}}
	for i, c := range failed {
		t.Attempts = append(t.Attempts,
			sia.Attempt{Number: i + 1, Coder: c, Outcome: sia.AttemptFail, PromptHash: fmt.Sprint(i)})
	}
	return t
}

func TestAssign(t *testing.T) {
	wish, other, worthless, insists := nextAttempt(1), nextAttempt(1, "fast"), nextAttempt(1), nextAttempt(1)
	wish.WantedCoder = "strong"
	absent := nextAttempt(1)
	absent.WantedCoder = "claude"
	other.Elsewhere, other.Settings.Budget.Value = true, 1000
	worthless.Settings.Budget.Value, insists.Settings.Budget.Value = 1, 1
	insists.Worthwhile = true
	insists.Credits.Budget = 2 * sia.Credit // less than any expected cost
	for _, tt := range []struct {
		name   string
		task   sia.Task
		coders []coder.Candidate
		want   string
	}{
		{"the cheaper of two that are as able", nextAttempt(1), two, "fast"},
		{"there is only one", nextAttempt(1, "fast"), two[:1], "fast"},
		{"a person's wish", wish, two, "strong"},
		{"a wish that can't be granted", absent, two, "fast"},
		{"another than the last", other, two, "strong"},
		{"not worth it", worthless, two, sia.ChooseNobody},
		{"not worth it, with one coder", worthless, two[:1], sia.ChooseNobody},
		{"a person wants it all the same", insists, two, "fast"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := decideTask(t, decider(t, database(t)), tt.task, sia.DecideAssign, tt.coders)
			if d.Choice != tt.want || d.Reason == "" || !json.Valid(d.Options) || d.Propensity <= 0 {
				t.Errorf("%s with %.2f, want %s: %s", d.Choice, d.Propensity, tt.want, d.Reason)
			}
			if w := tt.task.WantedCoder; w != "" && !strings.Contains(d.Reason, "asked for "+w) {
				t.Errorf("the wish for %s is passed over in silence: %s", w, d.Reason)
			}
		})
	}
}

// The log says how a coder of an attempt was configured, whatever models answered.
func TestSetupOfACoder(t *testing.T) {
	d, next := decider(t, database(t)), slices.Clone(two)
	configured := slices.Clone(two)
	configured[0].Agent, next[0].Agent = "builtin/a", "command/a"
	log := []sia.Decision{decideTask(t, d, nextAttempt(1), sia.DecideAssign, two),
		decideTask(t, d, nextAttempt(1), sia.DecideAssign, configured),
		decideTask(t, d, nextAttempt(1, "fast"), sia.DecideAssign, next), {Type: sia.DecideAssign, Context: nil}}
	for attempt, want := range []string{"", "builtin/a", "command/a"} {
		o := store.CoderOutcome{Attempt: attempt, Coder: "fast", Agent: "builtin/b"}
		if got := setupOf(o, log); got != want {
			t.Errorf("attempt %d: %q, want %q", attempt, got, want)
		}
	}
	if got := setupOf(store.CoderOutcome{Attempt: 1, Coder: "other"}, log); got != "" {
		t.Errorf("one that was no candidate: %q", got)
	}
}

// A decider that reads the outcomes in different portions, and one that starts at the end, make the same decisions.
func TestDecidersDecideAlike(t *testing.T) {
	s := database(t)
	early, late := decider(t, s), decider(t, s)
	for i := range 40 {
		o := store.CoderOutcome{Task: sia.NewTaskID(shop.ID, i), Attempt: 1, Repo: shop.ID, Org: shop.Owner, Kind: "bug",
			Coder: two[i%2].Coder, Agent: fmt.Sprint("model ", i/30), Cost: 500, Resolved: i%2 == 1, At: time.Unix(1, 0)}
		if err := s.RecordCoderOutcome(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if i%7 == 0 {
			decideTask(t, early, nextAttempt(99), sia.DecideAssign, two)
		}
	}
	alike := []coder.Candidate{{Coder: "fast", Cost: 5}, {Coder: "strong", Cost: 5}}
	a := decideTask(t, early, nextAttempt(100), sia.DecideAssign, alike)
	b := decideTask(t, late, nextAttempt(100), sia.DecideAssign, alike)
	if string(a.Options) != string(b.Options) || a.Choice != b.Choice || a.Reason != b.Reason {
		t.Errorf("one decides %s because %s\nthe other %s because %s", a.Choice, a.Reason, b.Choice, b.Reason)
	}
	if a.Choice != "strong" {
		t.Errorf("%s is chosen, and it has resolved nothing: %s", a.Choice, a.Reason)
	}
}

// The result of a task is recorded once, and settles the decisions that led to it.
func TestDecisionsAreSettled(t *testing.T) {
	s := database(t)
	d := decider(t, s)
	res, err := s.Apply(t.Context(), sia.NewTaskID(shop.ID, 1), sia.Event{ID: "start", At: time.Unix(1, 0),
		Fact: sia.Start{Repo: shop, Issue: 1, Title: "Crash on empty input", DefaultBranch: "main"}})
	if err != nil {
		t.Fatal(err)
	}
	step := func(fact sia.Fact) sia.Task {
		t.Helper()
		task := res.Task
		for key, kind := range task.Pending {
			if kind == map[sia.Kind]sia.EffectKind{sia.KBegun: sia.DoBegin, sia.KDecided: sia.DoDecide,
				sia.KAttemptEnded: sia.DoAttempt}[fact.Kind()] {
				if q, ok := fact.(sia.Decided); ok {
					dec := decideTask(t, d, task, q.Type, two)
					dec.ID = key
					if err := s.LogDecision(t.Context(), dec); err != nil {
						t.Fatal(err)
					}
				}
				res, err = s.Apply(t.Context(), task.ID, sia.Event{ID: key, Effect: key, At: time.Unix(2, 0), Fact: fact})
				if err != nil {
					t.Fatal(err)
				}
				return res.Task
			}
		}
		t.Fatalf("nothing waits for %s: %v", fact.Kind(), task.Pending)
		return task
	}
	step(sia.Begun{Settings: sia.DefaultSettings(), Title: "Crash on empty input", BaseBranch: "main", BaseSHA: "base"})
	step(sia.Decided{Type: sia.DecideDecompose, Choice: "whole", Reason: "it is small"})
	step(sia.Decided{Type: sia.DecideAssign, Choice: "fast", Agent: "builtin/f", Reason: "so it is"})
	task := step(sia.AttemptEnded{End: sia.EndFinished, Cost: 500}) // no changes: it failed
	observe := func() []store.CoderOutcome {
		t.Helper()
		if err := d.Observe(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		outcomes, err := s.CoderOutcomesSince(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return outcomes
	}
	if early := observe(); len(early) != 0 {
		t.Errorf("a failure that may be taken back is learned: %+v", early)
	}
	step(sia.Decided{Type: sia.DecideRecover, Choice: sia.ChooseSIA})
	observe()
	outcomes := observe()
	if len(outcomes) != 1 || outcomes[0].Coder != "fast" || outcomes[0].Resolved ||
		outcomes[0].Cost != 500 || !outcomes[0].Changed {
		t.Errorf("%+v", outcomes)
	}
	decisions, err := s.Decisions(t.Context(), task.ID)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(decisions, func(d sia.Decision) bool { return d.Type == sia.DecideAssign })
	if a := decisions[i]; a.Outcome != outcomeFailed || a.Credit >= 0 || a.Credit < -1 {
		t.Errorf("who worked came to %q with the credit %.2f", a.Outcome, a.Credit)
	}
	k := slices.IndexFunc(decisions, func(d sia.Decision) bool { return d.Type == sia.DecideDecompose })
	if a := decisions[k]; a.Outcome != outcomeFailed || a.Credit != -0.5 {
		t.Errorf("that it was done as a whole came to %q with the credit %.2f", a.Outcome, a.Credit)
	}
	j := slices.IndexFunc(decisions, func(d sia.Decision) bool { return d.Type == sia.DecideRecover })
	if r := decisions[j]; r.Outcome != "" {
		t.Errorf("what follows came to %q before it is known", r.Outcome)
	}
}

// BenchmarkDecide makes the decisions of an attempt after 100,000 outcomes: the learned one with two coders, as it is
// logged.
func BenchmarkDecide(b *testing.B) {
	d := decider(b, nil)
	for i := range 100_000 {
		d.learner.Observe(coder.Outcome{Task: fmt.Sprint(i), Org: fmt.Sprint("org", i%50), Repo: fmt.Sprint(i % 500),
			Kind: "bug", Coder: two[i%2].Coder, Cost: 5, Resolved: i%3 == 0})
	}
	p := policies.ShippedAssign()
	by := decisionInput{Context: policies.Context{Task: policies.Read("Crash on empty input", "It crashes.", nil)}}
	task, times := nextAttempt(1, "fast"), []time.Duration(nil)
	for b.Loop() {
		start := time.Now()
		if a := d.assign(p, task, nil, &by, two); a.answer.Choice == "" {
			b.Fatal(a.answer.Reason)
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}

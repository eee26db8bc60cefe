package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sia/technique"
)

var shop = sia.Repo{ID: 7, Owner: "ada", Name: "shop"}

func database(t *testing.T) *store.Store {
	t.Helper()
	s := storetest.Open(t, store.Config{})
	return s
}

// shipped returns the policy of the shipped technique decisions.
func shipped(t *testing.T) bandit.Policy {
	t.Helper()
	p := policies.ShippedTechnique()
	return p
}

// replica returns a worker without any evidence.
func replica(t *testing.T, s *store.Store) *Chooser {
	t.Helper()
	l := bandit.NewLearner(shipped(t))
	return NewChooser(s, l, "new", func() time.Time { return time.Unix(1_800_000_000, 0) })
}

func library(t *testing.T) *technique.Library {
	t.Helper()
	l, errs := technique.LoadLibrary(nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return l
}

func record(t *testing.T, s *store.Store, os ...store.Outcome) {
	t.Helper()
	for _, o := range os {
		if isNew, err := s.RecordOutcome(t.Context(), o); err != nil || !isNew {
			t.Fatalf("%+v: new %v, %v", o, isNew, err)
		}
	}
}

// ratings differ by issue; the first has none.
func ratings(issue int) sia.Ratings {
	if issue == 0 {
		return nil
	}
	return sia.Ratings{sia.FreshStart: float64(issue) / 8, sia.ToolChange: 0.5, sia.Decomposition: 0,
		sia.ContextPruning: 0.2}
}

// decisions returns a worker's decisions for every pattern in several tasks.
func decisions(t *testing.T, w *Chooser) (all []sia.Decision) {
	t.Helper()
	if err := w.catchUp(context.Background()); err != nil {
		t.Fatal(err)
	}
	known, policy := library(t), shipped(t)
	for issue := range 8 {
		task := sia.Task{ID: sia.NewTaskID(7, issue), Repo: shop, Approaches: 5, Attempts: []sia.Attempt{{Number: 1}}}
		for _, p := range sia.Patterns {
			cs := w.Candidates(technique.Trials{Library: known}, task, "go", p, policy)
			chosen, err := w.Choose(task, "go", sia.Effect{Key: fmt.Sprint(issue, p), Attempt: 1},
				diagnose.Choice{Pattern: p, Candidates: cs, Pick: cs[len(cs)-1].Technique, Confidence: 0.7, Ratings: ratings(issue),
					Model: true}, policy, technique.Trials{})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, *chosen.Decision)
		}
	}
	return all
}

// TestReplicasDecideAlike: replicas that read the outcomes in different portions, and one that starts at the end, make
// the same decisions. So does a new learner with the same outcomes for a logged question.
//
//test:plain
//test:thorough
func TestReplicasDecideAlike(t *testing.T) {
	s := database(t)
	early, lazy := replica(t, s), replica(t, s)
	dice := rand.New(rand.NewPCG(1, 2))
	all := library(t).All()
	untaught := decisions(t, replica(t, s))
	var halfway []sia.Decision
	for i := range 120 {
		o := store.Outcome{
			Task: sia.NewTaskID(7, i), Intervention: 1, Repo: shop, Pattern: sia.Patterns[dice.IntN(3)],
			Technique: all[dice.IntN(len(all))].ID,
			Attempt:   dice.IntN(4), Setup: fmt.Sprint("setup ", i/50),
		}
		o.Resolved = o.Technique == sia.FreshStart || dice.IntN(5) == 0
		if i%3 > 0 {
			o.Repo = sia.Repo{ID: int64(8 + i%5), Owner: fmt.Sprint("org", i%2), Name: "r"}
		}
		if i%4 > 0 {
			o.Z, o.Confidence = dice.Float64()*2, map[string]float64{string(o.Technique): dice.Float64()}
			for _, k := range all[:i%len(all)] {
				o.Confidence[string(k.ID)] = dice.Float64()
			}
		}
		record(t, s, o)
		if err := early.catchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if i == 60 {
			halfway = decisions(t, lazy)
		}
	}
	want := decisions(t, early)
	for name, w := range map[string]*Chooser{"in two portions": lazy, "after a restart": replica(t, s)} {
		if diff := cmp.Diff(want, decisions(t, w)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if slices.EqualFunc(want, untaught, func(a, b sia.Decision) bool { return a.Choice == b.Choice }) {
		t.Error("what was learned decided nothing")
	}
	for _, d := range halfway[:len(sia.Patterns)/4] {
		repeat(t, s, d)
	}
}

// repeat repeats a logged decision with a new learner.
func repeat(t *testing.T, s *store.Store, d sia.Decision) {
	t.Helper()
	var asked question
	if err := json.Unmarshal(d.Context, &asked); err != nil {
		t.Fatal(err)
	}
	outcomes, err := s.OutcomesSince(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	then := database(t)
	for _, o := range outcomes[:asked.Learned] {
		record(t, then, o)
	}
	w := replica(t, then)
	if err := w.catchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := asked.decide(w.learner, nil)
	options, err := json.Marshal(again.Options)
	if err != nil {
		t.Fatal(err)
	}
	if again.Choice != d.Choice || again.Propensity != d.Propensity || again.Reason != d.Reason ||
		string(options) != string(d.Options) {
		t.Errorf("%s: decided %+v, logged %+v", d.ID, again, d)
	}
}

// TestOtherModels: evidence from other models counts a quarter from the first outcome with new ones on, and is
// discounted once.
func TestOtherModels(t *testing.T) {
	s := database(t)
	w := replica(t, s)
	restored := store.RestoredSetup // whose real one is unknown, which discounts nothing
	for i, setup := range []string{restored, "a", "a", restored, "b", "a", restored} {
		record(t, s, store.Outcome{Task: sia.NewTaskID(7, i), Intervention: 1, Repo: shop, Pattern: sia.WrongTool,
			Technique: sia.ToolChange, Resolved: true, Setup: setup})
	}
	if err := w.catchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := w.learner.Decide(bandit.Request{Diagnosis: banditDiagnosis(shop, sia.WrongTool, nil),
		Candidates: []bandit.Candidate{{Technique: string(sia.ToolChange)}}})
	if got, want := d.Options[0].Here, (bandit.Tally{Resolved: 4, Tried: 4}); got != want { // 4 × ¼, and three since
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestCandidates: a technique that has resolved a pattern, here or elsewhere, is a candidate although it is not listed
// for it.
func TestCandidates(t *testing.T) {
	s := database(t)
	w := replica(t, s)
	task := sia.Task{ID: "7-1", Repo: shop, Approaches: 5, Attempts: []sia.Attempt{{Number: 1}}}
	names := func() (ids []sia.TechniqueID) {
		for _, c := range w.Candidates(technique.Trials{Library: library(t)}, task, "go", sia.WrongOrder, shipped(t)) {
			ids = append(ids, c.Technique)
		}
		return ids
	}
	if diff := cmp.Diff([]sia.TechniqueID{sia.DependencyReordering, sia.FreshStart, sia.Decomposition},
		names()); diff != "" {
		t.Error(diff)
	}
	record(t, s,
		store.Outcome{Task: "9-1", Intervention: 1, Repo: sia.Repo{ID: 9, Owner: "bea", Name: "x"}, Pattern: sia.WrongOrder,
			Technique: sia.ExampleInjection, Resolved: true},
		store.Outcome{Task: "7-9", Intervention: 1, Repo: shop, Pattern: sia.WrongOrder, Technique: sia.ContextPruning})
	if err := w.catchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ids := names(); !slices.Contains(ids, sia.ExampleInjection) || slices.Contains(ids, sia.ContextPruning) {
		t.Errorf("%v", ids)
	}
}

// TestPersonsWish: a user's request is binding, logged as the user's, with the evidence against it.
func TestPersonsWish(t *testing.T) {
	w := replica(t, database(t))
	task := sia.Task{ID: "7-1", Repo: shop, Approaches: 5, Attempts: []sia.Attempt{{Number: 1}}, Wanted: sia.FreshStart}
	cs := w.Candidates(technique.Trials{Library: library(t)}, task, "go", sia.WrongOrder, shipped(t))
	chosen, err := w.Choose(task, "go", sia.Effect{Key: "7-1/1/diagnose-v3", Attempt: 1},
		diagnose.Choice{Pattern: sia.WrongOrder, Candidates: cs, Wanted: sia.FreshStart}, shipped(t), technique.Trials{})
	if err != nil {
		t.Fatal(err)
	}
	d := chosen.Decision
	if chosen.Technique != sia.FreshStart || d.Choice != "fresh-start" || d.Propensity != 1 || d.Policy != policyUser {
		t.Errorf("%+v", d)
	}
	var options []bandit.Option
	if err := json.Unmarshal(d.Options, &options); err != nil {
		t.Fatal(err)
	}
	for _, o := range options {
		if want := map[bool]float64{true: 1}[o.Technique == d.Choice]; o.Propensity != want {
			t.Errorf("%s has the propensity %v", o.Technique, o.Propensity)
		}
	}
	if want := "A person asked for fresh-start with /sia use, which is binding. The evidence was for " +
		"dependency-reordering, with 38 %."; d.Reason != want {
		t.Error(d.Reason)
	}
}

// TestWhatIsHeard: the question contains the model's rating of each technique, the confidence of an unrated pick, and
// no statement by rules.
func TestWhatIsHeard(t *testing.T) {
	w := replica(t, database(t))
	task := sia.Task{ID: "7-1", Repo: shop, Approaches: 5}
	rated := sia.Ratings{sia.FreshStart: 0.2, sia.ToolChange: 0}
	for _, tt := range []struct {
		name   string
		choice diagnose.Choice
		want   map[string]float64
	}{
		{"all rated", diagnose.Choice{Model: true, Pick: sia.FreshStart, Confidence: 0.9, Ratings: rated},
			map[string]float64{"fresh-start": 0.2, "tool-change": 0}},
		{"the pick is not rated", diagnose.Choice{Model: true, Pick: sia.Decomposition, Confidence: 0.9, Ratings: rated},
			map[string]float64{"fresh-start": 0.2, "tool-change": 0, "decomposition": 0.9}},
		{"no pick", diagnose.Choice{Model: true, Confidence: 0.9, Ratings: rated},
			map[string]float64{"fresh-start": 0.2, "tool-change": 0}},
		{"the pick alone", diagnose.Choice{Model: true, Pick: sia.FreshStart, Confidence: 0.9},
			map[string]float64{"fresh-start": 0.9}},
		{"nothing said", diagnose.Choice{Model: true, Confidence: 0.9}, nil},
		{"by the rules", diagnose.Choice{Pick: sia.FreshStart, Confidence: 0.9}, nil},
	} {
		if diff := cmp.Diff(tt.want, w.newQuestion(task, "go", tt.choice, technique.Trials{}).Confidence); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	if diff := cmp.Diff(sia.Ratings{sia.FreshStart: 0.2, sia.ToolChange: 0}, rated); diff != "" {
		t.Error("the choice's ratings were changed: ", diff)
	}
}

// TestRatingsDecide: whether the same pick with the same confidence is tried depends on the ratings of the others.
func TestRatingsDecide(t *testing.T) {
	w := replica(t, database(t))
	task := sia.Task{ID: "7-1", Repo: shop, Approaches: 5, Attempts: []sia.Attempt{{Number: 1}}}
	cs := w.Candidates(technique.Trials{Library: library(t)}, task, "go", sia.RepeatedError, shipped(t))
	for _, tt := range []struct {
		ratings sia.Ratings
		want    sia.TechniqueID
	}{
		{nil, sia.ErrorPattern},
		{sia.Ratings{sia.ErrorPattern: 0.8, sia.ToolChange: 0.7, sia.ExampleInjection: 0.3, sia.FreshStart: 0.2},
			sia.ErrorPattern},
		{sia.Ratings{sia.ErrorPattern: 0.3, sia.ToolChange: 0.7, sia.ExampleInjection: 0.3, sia.FreshStart: 0.2},
			sia.ToolChange},
		{sia.Ratings{sia.ToolChange: 0.95, sia.ExampleInjection: 0.8, sia.FreshStart: 0.85, sia.Decomposition: 0.8},
			sia.ToolChange},
	} {
		chosen, err := w.Choose(task, "go", sia.Effect{Key: "7-1/1/diagnose-v3", Attempt: 1}, diagnose.Choice{
			Pattern: sia.RepeatedError, Candidates: cs, Pick: sia.ErrorPattern, Confidence: 0.7, Ratings: tt.ratings,
			Model: true,
		}, shipped(t), technique.Trials{})
		if err != nil || chosen.Technique != tt.want {
			t.Errorf("%v: %s because %s, want %s (%v)", tt.ratings, chosen.Technique, chosen.Why, tt.want, err)
		}
	}
}

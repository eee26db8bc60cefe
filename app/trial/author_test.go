package trial_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/trial"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/mine"
	"github.com/sia-bot/sia/sim/scripted"
)

// model responds with the given answers in order, over HTTP.
func model(t *testing.T, turns ...scripted.Answer) (*trial.ModelAuthor, *scripted.Server) {
	t.Helper()
	s, err := scripted.Start(scripted.Script{Rules: []scripted.Rule{{Name: "author", Turns: turns}}}, scripted.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := llm.New(llm.Config{BaseURL: s.URL, Model: "author"})
	if err != nil {
		t.Fatal(err)
	}
	return trial.NewModelAuthor(c, "author"), s
}

func escalate(t *testing.T) policies.Policy {
	t.Helper()
	return policies.ShippedSet().For(policies.TypeEscalate, policies.Context{})
}

// changes is the model's answer.
func changes(all ...policies.Mutation) scripted.Answer {
	return scripted.Answer{JSON: map[string]any{"changes": all}}
}

func checked(p policies.Policy) func(policies.Mutation) error {
	return func(m policies.Mutation) error {
		_, err := policies.Mutate(p, m)
		return err
	}
}

// The model gets the material, and may correct errors once.
func TestModelProposes(t *testing.T) {
	p := escalate(t)
	m := trial.Material{Policy: p,
		Options:  []mine.OptionWorth{{Type: p.Decision, Choice: "ask", Tally: mine.Tally{Resolved: 3, Tried: 21}}},
		Findings: []string{"asking fails for docs: 3 of 21"}, Resolved: []string{"kind bug: go-on"},
		Failed:   []string{"kind docs: ask ```"},
		Rejected: []trial.Rejected{{Path: "parameters.help", Value: "0.4", Why: "no difference was found"}}}
	good := policies.Mutation{Path: "parameters.threshold", Value: "0.8", Reason: "Asking early did badly."}
	author, srv := model(t, changes(policies.Mutation{Path: "parameters.treshold", Value: "0.8", Reason: "r"}),
		changes(good))
	got, err := author.Propose(t.Context(), m, checked(p))
	if diff := cmp.Diff([]policies.Mutation{good}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	asked := srv.Requests()
	if len(asked) != 2 {
		t.Fatalf("asked %d times", len(asked))
	}
	first, second := asked[0].Messages[1].Content, asked[1].Messages[3].Content
	for _, want := range []string{"threshold: 0.65     # a person is asked above it", "parameters.prior_weight = 8",
		"ask: 3 of 21 resolved", "asking fails for docs", "kind bug: go-on",
		"parameters.help: 0.4 did not hold: no difference was found"} {
		if !strings.Contains(first, want) {
			t.Errorf("it was not told %q:\n%s", want, first)
		}
	}
	if !strings.Contains(first, "````text\nkind docs: ask ```\n````") {
		t.Error("what a log has can close the block that it stands in")
	}
	if !strings.Contains(second, "there is no such key") {
		t.Errorf("it was not told what was wrong: %s", second)
	}
}

// One valid change of two is sufficient; no change is a valid answer.
func TestModelProposesLess(t *testing.T) {
	p := escalate(t)
	good := policies.Mutation{Path: "parameters.threshold", Value: "0.8", Reason: "r"}
	author, _ := model(t, changes(policies.Mutation{Path: "name", Value: "x", Reason: "r"}, good, good))
	if got, err := author.Propose(t.Context(), trial.Material{Policy: p}, checked(p)); err != nil || len(got) != 1 {
		t.Errorf("%v %v", got, err)
	}
	author, _ = model(t, changes())
	if got, err := author.Propose(t.Context(), trial.Material{Policy: p}, checked(p)); err != nil || len(got) != 0 {
		t.Errorf("%v %v", got, err)
	}
}

// A model that is down, answers in prose or repeats invalid changes proposes nothing, and the error contains the
// reason.
func TestModelIsNoUse(t *testing.T) {
	p := escalate(t)
	bad := changes(policies.Mutation{Path: "parameters.threshold", Value: "17", Reason: "r"})
	for name, turns := range map[string][]scripted.Answer{
		"could not be asked": {{Fault: &scripted.Fault{Status: 401}}},
		"unusable":           {{Text: "I would raise it."}, {Text: "Really."}},
		"from 0 to 5":        {bad, bad},
	} {
		author, _ := model(t, turns...)
		_, err := author.Propose(t.Context(), trial.Material{Policy: p}, checked(p))
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	author, _ := model(t, bad)
	if _, err := author.Propose(ctx, trial.Material{Policy: p}, checked(p)); !errors.Is(err, context.Canceled) {
		t.Errorf("after it was stopped: %v", err)
	}
}

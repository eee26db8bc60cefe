package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
)

// Several coders are started if the policy says so, at the expected gain of one run, and unless a user chose one.
func TestWhoRaces(t *testing.T) {
	const race = "decision: assign\nname: race\nversion: 1\nparameters: {race: 2, race_below: 0.9, explore: 0}\n"
	wish, absent, planning := nextAttempt(1), nextAttempt(1), nextAttempt(1)
	merging, parts, poor := nextAttempt(1), nextAttempt(1), nextAttempt(1)
	wish.WantedCoder, absent.WantedCoder = "strong", "claude"
	planning.Settings.Agent.Plan = sia.PlanApprove
	merging.Merging = &sia.Merging{}
	parts.Opening.Structure = plan.Linear
	poor.Credits.Budget = 10 * sia.Credit
	for _, tt := range []struct {
		name string
		task sia.Task
		want []string
	}{
		{"two pay for themselves", nextAttempt(1), []string{"fast", "cheap"}},
		{"a person's wish", wish, nil},
		{"a wish that can't be granted", absent, []string{"fast", "cheap"}},
		{"it makes a plan", planning, nil},
		{"it merges", merging, nil},
		{"it is taken apart", parts, nil},
		{"what is left is enough for one", poor, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			coders := []coder.Candidate{{Coder: "fast", Cost: 5, Prior: 0.5}, {Coder: "cheap", Cost: 6, Prior: 0.5},
				{Coder: "strong", Cost: 60, Prior: 0.5}}
			d := decidePart(t, decider(t, database(t)), tt.task, 0, sia.DecideAssign, coders, race)
			if diff := cmp.Diff(tt.want, Racers(d)); diff != "" {
				t.Errorf("%s\n%s", diff, d.Reason)
			}
		})
	}
}

// inParts returns a task with a running attempt of two parts, the first of which has failed.
func inParts(p sia.Part) sia.Task {
	t := nextAttempt(1)
	t.Opening = nil
	p.State = sia.PartFailed
	t.Attempts = []sia.Attempt{{Number: 1, Coder: "fast", Structure: plan.Linear, Reserved: 80 * sia.Credit,
		Parts: []sia.Part{p, {State: sia.PartWaiting}}}}
	return t
}

//test:plain
func TestPartsAreDecided(t *testing.T) {
	once := sia.Part{Tries: 1, Run: 2, Failed: []string{"fast"}}
	twice := sia.Part{Tries: 2, Run: 3, Failed: []string{"fast", "fast"}, Checked: &sia.CheckRun{Class: "test_failure"}}
	both := sia.Part{Tries: 3, Run: 4, Failed: []string{"fast", "fast", "strong"}}
	test := twice
	test.Kind = sia.PartTest
	wished, third := inParts(twice), inParts(both)
	wished.WantedCoder = "fast" // for the next attempt
	for _, tt := range []struct {
		name   string
		task   sia.Task
		coders []coder.Candidate
		q      sia.DecisionType
		want   string
	}{
		{"the first time", inParts(once), two, sia.DecideRecover, sia.ChooseRetry},
		{"the second time", inParts(twice), two, sia.DecideRecover, sia.ChooseOtherCoder},
		{"a test that does not show the fault", inParts(test), two, sia.DecideRecover, sia.ChooseOtherCoder},
		{"there is nobody else", inParts(twice), two[:1], sia.DecideRecover, sia.ChooseSIA},
		{"everybody failed", inParts(both), two, sia.DecideRecover, sia.ChooseSIA},
		{"who else", inParts(twice), two, sia.DecideAssign, "strong"},
		{"who else, whatever is wished for later", wished, two, sia.DecideAssign, "strong"},
		{"who else, of three", third, append(two[:2:2], coder.Candidate{Coder: "last", Cost: 90}), sia.DecideAssign, "last"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := decidePart(t, decider(t, database(t)), tt.task, 1, tt.q, tt.coders)
			if d.Choice != tt.want || d.Reason == "" {
				t.Errorf("%q, want %q: %s", d.Choice, tt.want, d.Reason)
			}
			var by decisionInput
			if err := json.Unmarshal(d.Context, &by); err != nil || by.Part == "" || by.Tries == 0 || by.Wanted != "" {
				t.Errorf("it is not said that it is about a part: %s, %v", d.Context, err)
			}
			if Racers(d) != nil {
				t.Error("they race for a part")
			}
		})
	}
	set := policies.ShippedSet()
	f := sia.Effect{Part: 3, Question: sia.DecideRecover}
	if _, _, err := decider(t, database(t)).Decide(t.Context(), set, inParts(once), f, "go", two); err == nil {
		t.Error("something is decided about a part that there is not")
	}
}

// Whether a task is split depends on the brief of the next attempt, and on whether parts can be checked here.
func TestStructureIsDecided(t *testing.T) {
	task := nextAttempt(1)
	d := decideTask(t, decider(t, database(t)), task, sia.DecideDecompose, two)
	if d.Choice != policies.ChoiceWhole || !strings.HasPrefix(d.Policy, "decompose/1@") || d.Propensity != 1 {
		t.Errorf("%+v", d)
	}
	task.Brief.Technique, task.Brief.Steps = sia.Decomposition, make([]plan.Part, 3)
	if d = decideTask(t, decider(t, database(t)), task, sia.DecideDecompose, two); d.Choice != policies.ChoiceLinear {
		t.Errorf("steps: %s, because %s", d.Choice, d.Reason)
	}
	blind := decider(t, database(t))
	blind.checkable = func(context.Context) bool { return false }
	if d = decideTask(t, blind, task, sia.DecideDecompose, two); d.Choice != policies.ChoiceWhole {
		t.Errorf("steps that can't be checked: %s, because %s", d.Choice, d.Reason)
	}
}

// racing returns an attempt of several racers, the present one named last.
func racing(outcome sia.AttemptOutcome, now string, pushed ...string) sia.Attempt {
	a := sia.Attempt{Number: 1, Coder: now, Agent: "a/" + now, Cost: 90, Structure: plan.Race, Outcome: outcome}
	for i, name := range []string{"fast", "strong"} {
		p := sia.Part{Kind: sia.PartRacer, State: sia.PartDone, Coder: name, Agent: "a/" + name,
			Cost: sia.Credits(10 + 70*i), Run: 1}
		for _, x := range pushed {
			p.Pushed = p.Pushed || x == name
		}
		a.Parts = append(a.Parts, p)
	}
	return a
}

// Each coder of an attempt is credited with its own work.
func TestWhoWorked(t *testing.T) {
	abandoned := sia.Part{State: sia.PartGivenUp, Coder: "strong", Agent: "a/strong", Cost: 7, Run: 3,
		Failed: []string{"strong"}}
	moved := abandoned
	moved.Failed = []string{"fast", "strong"}
	own := sia.Part{State: sia.PartDone, Agent: "a/fast", Run: 2, Failed: []string{"fast"}}
	apart := func(outcome sia.AttemptOutcome, parts ...sia.Part) sia.Attempt {
		return sia.Attempt{Number: 1, Coder: "fast", Agent: "a/fast, a/other", Cost: 90, Structure: plan.Linear,
			Outcome: outcome, Parts: parts}
	}
	for _, tt := range []struct {
		name string
		in   sia.Attempt
		want []result
	}{
		{"one", sia.Attempt{Coder: "fast", Agent: "a/fast", Cost: 5, Outcome: sia.AttemptPass},
			[]result{{"fast", "a/fast", 5, true}}},
		{"it is not judged", sia.Attempt{Coder: "fast", Cost: 5, Outcome: sia.AttemptError}, nil},
		{"the first racer was right", racing(sia.AttemptPass, "fast", "fast"), []result{{"fast", "a/fast", 10, true}}},
		{"the second was", racing(sia.AttemptPass, "strong", "fast", "strong"),
			[]result{{"fast", "a/fast", 10, false}, {"strong", "a/strong", 80, true}}},
		{"the second is with the checks", racing("", "strong", "fast", "strong"), []result{{"fast", "a/fast", 10, false}}},
		{"neither was", racing(sia.AttemptFail, "strong", "fast", "strong"),
			[]result{{"fast", "a/fast", 10, false}, {"strong", "a/strong", 80, false}}},
		{"parts of one coder", apart(sia.AttemptPass, own, own), []result{{"fast", "a/fast", 90, true}}},
		{"parts of several", apart(sia.AttemptPass, own, sia.Part{State: sia.PartDone, Coder: "strong", Run: 3}), nil},
		{"a part that its only coder failed at", apart(sia.AttemptFail, own, abandoned),
			[]result{{"strong", "a/strong", 7, false}}},
		{"a part that several failed at", apart(sia.AttemptFail, own, moved), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, coderResults(tt.in), cmp.AllowUnexported(result{})); d != "" {
				t.Error(d)
			}
		})
	}
}

// Every racer's outcome is recorded once, with those that failed before the checks ran on it.
func TestRacersAreRecorded(t *testing.T) {
	s := database(t)
	task := sia.Task{ID: sia.NewTaskID(shop.ID, 1), Repo: shop,
		Attempts: []sia.Attempt{racing(sia.AttemptPass, "strong", "fast", "strong")}}
	coders, _ := Results(task)
	for _, o := range append(coders, coders...) {
		if err := s.RecordCoderOutcome(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	os, err := s.CoderOutcomesSince(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range os {
		got = append(got, fmt.Sprintf("%d %s %d %t %v", o.Attempt, o.Coder, o.Cost, o.Resolved, o.Failed))
	}
	if d := cmp.Diff([]string{"1 fast 10 false []", "1 strong 80 true [fast]"}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"fast"}, task.FailedCoders()); d != "" {
		t.Error(d)
	}
}

// A decision about a part is settled by the attempt of the part; so is that about the next racer.
func TestWhatDecisionsCameTo(t *testing.T) {
	task := sia.Task{State: sia.Diagnosing, Attempts: []sia.Attempt{{Number: 1, Outcome: sia.AttemptFail}, {Number: 2}}}
	passed := sia.Task{State: sia.Passed, Attempts: []sia.Attempt{{Number: 1, Outcome: sia.AttemptAsked},
		{Number: 2, Outcome: sia.AttemptCheckpoint}, {Number: 3, Outcome: sia.AttemptPass, Head: "a"},
		{Number: 4, Outcome: sia.AttemptPass, From: "a", Demands: 1}}}
	for _, tt := range []struct {
		name string
		in   sia.Decision
		part bool
		want string
	}{
		{"a part", sia.Decision{Type: sia.DecideRecover, Attempt: 1, Choice: sia.ChooseRetry}, true, outcomeFailed},
		{"a part's coder", sia.Decision{Type: sia.DecideAssign, Attempt: 1, Choice: "strong"}, true, outcomeFailed},
		{"nobody for a part", sia.Decision{Type: sia.DecideAssign, Attempt: 1}, true, outcomeUntried},
		{"the next racer", sia.Decision{Type: sia.DecideRecover, Attempt: 1, Choice: sia.ChooseNextRacer}, false,
			outcomeFailed},
		{"the attempt", sia.Decision{Type: sia.DecideRecover, Attempt: 1, Choice: sia.ChooseRetry}, false, ""},
		{"the structure of the first", sia.Decision{Type: sia.DecideDecompose, Choice: "linear"}, false,
			outcomeFailed},
		{"the structure of the second", sia.Decision{Type: sia.DecideDecompose, Attempt: 1, Choice: "linear"}, false, ""},
	} {
		if came, _ := decisionOutcome(task, tt.in, tt.part); came != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, came, tt.want)
		}
	}
	// The number of assignments with a result equals the number of counted tries of coders.
	var got []string
	for n := range passed.Attempts {
		came, _ := decisionOutcome(passed, sia.Decision{Type: sia.DecideAssign, Attempt: n, Choice: "strong"}, false)
		got = append(got, came)
	}
	if d := cmp.Diff([]string{outcomeUncounted, outcomeUncounted, outcomeResolved, outcomeUncounted}, got); d != "" {
		t.Error(d)
	}
}

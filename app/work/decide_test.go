package work

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
	"github.com/sia-bot/sia/sia/plan"
)

// priors returns the priors of the shipped rerun policy.
var priors = policies.Rerun{Parameters: policies.RerunParameters{FlakeRate: 0.02, FlakeWeight: 50, GoodRate: 0.35,
	GoodWeight: 10}}

var repo = sia.Repo{ID: 7, Owner: "octo", Name: "demo"}

// decider returns a decision worker with an empty database, and a task in it.
func decider(t *testing.T) (*decisionWorker, sia.Task) {
	t.Helper()
	now := func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
	s := storetest.Open(t, store.Config{Logger: slog.New(slog.DiscardHandler), Now: now})
	res, err := s.Apply(t.Context(), sia.NewTaskID(repo.ID, 1),
		sia.Event{ID: "start", At: now(), Fact: sia.Start{Repo: repo, Issue: 1, Title: "Do it", DefaultBranch: "main"}})
	if err != nil {
		t.Fatal(err)
	}
	task := res.Task
	task.Settings, task.Head = sia.DefaultSettings(), "abc"
	task.Attempts = []sia.Attempt{{Number: 1}, {Number: 2}}
	task.Credits.Spent = 6 * sia.Credit
	return newDecisionWorker(&common{Deps: Deps{Store: s, Now: now}}), task
}

// inContext is a ruling with the context of a decision.
var inContext = ruling{context: policies.Context{Language: "go", Task: policies.Features{Kind: policies.KindBug},
	Labels: []string{"sia"}}}

// logged returns a task's decisions with their whole context, one per line.
func logged(t *testing.T, w *decisionWorker, id sia.TaskID) (lines []string) {
	t.Helper()
	ds, err := w.Store.Decisions(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range ds {
		var c policies.Context
		if err := json.Unmarshal(d.Context, &c); err != nil || cmp.Diff(inContext.context, c) != "" || d.Reason == "" ||
			d.Repo != repo.ID || d.Attempt != 2 {
			t.Errorf("half a decision: %+v", d)
		}
		lines = append(lines, fmt.Sprintf("%s %s of %s with %.1f: %q %.2f", d.Type, d.Choice, d.Options, d.Propensity,
			d.Outcome, d.Credit))
	}
	return lines
}

// A doubt is logged once, even if the gate looks repeatedly, and settled by the result of the re-run.
func TestRerunIsLoggedAndSettled(t *testing.T) {
	const chosen = `rerun re-run of [{"choice":"re-run","score":0.2},` +
		`{"choice":"blame the attempt","score":0.1}] with 1.0: `
	for verdict, want := range map[sia.GateVerdict]string{
		sia.VerdictGreen: chosen + `"green" 0.80`,
		sia.VerdictRed:   chosen + `"red" -0.20`,
		sia.VerdictNone:  chosen + `"" 0.00`,
	} {
		t.Run(string(verdict), func(t *testing.T) {
			w, task := decider(t)
			f := sia.Effect{Key: "k", Attempt: 2}
			for _, j := range []sia.Judged{
				{SHA: "abc", Verdict: sia.VerdictPending},
				{SHA: "abc", Verdict: sia.VerdictRerun,
					Doubt: &sia.Doubt{Checks: []string{"test"}, Chance: 0.2, Cost: 0.1, Rerun: true}},
				// after a crash
				{SHA: "abc", Verdict: sia.VerdictRerun,
					Doubt: &sia.Doubt{Checks: []string{"test"}, Chance: 0.2, Cost: 0.1, Rerun: true}},
			} {
				if err := w.decideRerun(t.Context(), task, f, j, inContext); err != nil {
					t.Fatal(err)
				}
			}
			task.Gate.Doubted = true
			if err := w.decideRerun(t.Context(), task, f, sia.Judged{SHA: "abc", Verdict: verdict}, inContext); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]string{want}, logged(t, w, task.ID)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestInterruptIsLogged(t *testing.T) {
	options := func(chance, limit, stop, spare float64) string {
		return fmt.Sprintf(`[{"choice":"interrupt","score":%v,"propensity":%v},`+
			`{"choice":"go on","score":%v,"propensity":%v}]`, chance, stop, limit, spare)
	}
	risk := sia.Risk{Same: 1, Chance: 0.75, Limit: 0.625}
	interrupted, spared := risk, risk
	interrupted.Interrupted, spared.Spared = true, true
	for _, c := range []struct {
		name string
		end  sia.AttemptEnded
		want []string
	}{
		{"not watched", sia.AttemptEnded{End: sia.EndFinished}, nil},
		{"nothing to decide", sia.AttemptEnded{End: sia.EndFinished, Risk: &sia.Risk{}}, nil},
		{"interrupted", sia.AttemptEnded{End: sia.EndStuck, Reason: "it gets nowhere", Risk: &interrupted},
			[]string{`interrupt interrupt of ` + options(.75, .625, .9, .1) + ` with 0.9: "" 0.00`}},
		{"interrupted by a rule", sia.AttemptEnded{End: sia.EndStuck, Reason: "the same error"},
			[]string{`interrupt interrupt of [{"choice":"interrupt","score":0,"propensity":1},{"choice":"go on","score":0}] ` +
				`with 1.0: "" 0.00`}},
		{"spared, and right", sia.AttemptEnded{End: sia.EndFinished, Risk: &spared, Diff: sia.DiffStat{Files: 2}},
			[]string{`interrupt go on of ` + options(.75, .625, .9, .1) + ` with 0.1: "got somewhere" -0.75`}},
		{"spared in vain", sia.AttemptEnded{End: sia.EndTurns, Risk: &spared, Diff: sia.DiffStat{Files: 2}},
			[]string{`interrupt go on of ` + options(.75, .625, .9, .1) + ` with 0.1: "got nowhere" 0.25`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, task := decider(t)
			for range 2 { // the second time after a crash
				if err := w.decideInterrupt(t.Context(), task, sia.Effect{Key: "k", Attempt: 2}, c.end, inContext); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(c.want, logged(t, w, task.ID)); d != "" {
				t.Error(d)
			}
		})
	}
}

// The gate's doubt is computed from flips in all repositories, and an attempt's cost from the task.
func TestDoubtIsLearned(t *testing.T) {
	w, task := decider(t)
	before, err := (&checkWorker{common: w.common}).doubt(t.Context(), task, priors)
	if err != nil {
		t.Fatal(err)
	}
	if before.Good != 0.35 || before.Other != 0.02 || len(before.Rates) != 0 || before.Attempt != 3 {
		t.Errorf("before anything was seen: %+v", before)
	}
	for i := range 50 {
		for r, name := range map[int64]string{repo.ID: "test", 8: "e2e"} {
			if err := w.Store.SaveFlips(t.Context(), r, sia.SHA(fmt.Sprint(i)),
				store.Flip{Check: name, Flipped: name == "test" && i%2 == 0}); err != nil {
				t.Fatal(err)
			}
		}
	}
	after, err := (&checkWorker{common: w.common}).doubt(t.Context(), task, priors)
	if err != nil {
		t.Fatal(err)
	}
	if rate := after.Rates["test"]; rate < 0.2 || rate > 0.3 || after.Other <= before.Other || after.Other > rate {
		t.Errorf("after 25 flips on 50 commits: %+v", after)
	}
}

// Red checks are doubted once on an attempt's commit, and never on a user's push.
func TestWhatIsDoubted(t *testing.T) {
	w, task := decider(t)
	asks := func(task sia.Task) bool {
		in := taskInput(task, w.Now())
		in.Runs = []gate.Run{{ID: 1, WorkflowRun: 9, Name: "test", Status: "completed", Conclusion: "failure", Read: true}}
		in.BaseKnown, in.WorkflowsKnown = true, true
		return in.Needs().Doubt
	}
	if !asks(task) {
		t.Error("an attempt is not doubted")
	}
	again, pushed := task, task
	again.Gate.Doubted = true
	pushed.HeadBy = sia.Actor{Login: "ada"}
	if asks(again) {
		t.Error("an attempt is doubted twice")
	}
	if asks(pushed) {
		t.Error("a person's push is doubted")
	}
}

// idle is an agent that has a name and does nothing.
type idle string

func (n idle) Name() string { return string(n) }

func (idle) Run(context.Context, agent.Input, agent.Recorder) (agent.Result, error) {
	return agent.Result{}, nil
}

// A decision is reported as logged: the repeated effect gives the same answer.
func TestAnswersAreReadFromTheLog(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   sia.Decision
		want sia.Decided
	}{
		{"parts", sia.Decision{Type: sia.DecideDecompose, Choice: "parallel",
			Options: json.RawMessage(`[{"choice":"whole"},{"choice":"parallel","at_once":2,"max_parts":6}]`)},
			sia.Decided{Choice: "parallel", AtOnce: 2, MaxParts: 6}},
		{"the whole", sia.Decision{Type: sia.DecideDecompose, Choice: "whole",
			Options: json.RawMessage(`[{"choice":"whole"},{"choice":"parallel","at_once":2,"max_parts":6}]`)},
			sia.Decided{Choice: "whole"}},
		{"one coder", sia.Decision{Type: sia.DecideAssign, Choice: "fast",
			Options: json.RawMessage(`[{"coder":"strong"},{"coder":"fast"}]`)}, sia.Decided{Choice: "fast", Agent: "builtin/f"}},
		{"two at once", sia.Decision{Type: sia.DecideAssign, Choice: "fast",
			Options: json.RawMessage(`[{"coder":"strong","races":true},{"coder":"fast","races":true},{"coder":"third"}]`)},
			sia.Decided{Choice: "fast", Agent: "builtin/f", Racers: []sia.Racer{{Coder: "fast", Agent: "builtin/f"},
				{Coder: "strong", Agent: "builtin/s"}}}},
		{"nobody", sia.Decision{Type: sia.DecideAssign, Options: json.RawMessage(`[{"coder":"fast"}]`)}, sia.Decided{}},
		{"a wait", sia.Decision{Type: sia.DecideRecover, Choice: "rerun",
			Options: json.RawMessage(`[{"choice":"rerun","wait":300000000000}]`)},
			sia.Decided{Choice: "rerun", Wait: sia.Duration(5 * time.Minute)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, task := decider(t)
			w.Coders.All = []Coder{{Name: "fast", Builtin: idle("builtin/f")}, {Name: "strong", Builtin: idle("builtin/s")}}
			tt.in.ID, tt.in.Task, tt.in.Repo, tt.in.Reason = "k", task.ID, repo.ID, "so it is"
			if err := w.Store.LogDecision(t.Context(), tt.in); err != nil {
				t.Fatal(err)
			}
			got, err := w.decide(t.Context(), task, sia.Effect{Key: "k", Question: tt.in.Type})
			tt.want.Type, tt.want.Decision, tt.want.Reason = tt.in.Type, "k", "so it is"
			if diff := cmp.Diff(sia.Fact(tt.want), got); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
}

// Packages sia and policies use the same names for decisions and choices, although neither imports the other.
func TestChoicesHaveOneName(t *testing.T) {
	types := []sia.DecisionType{sia.DecideDecompose, sia.DecideAssign, sia.DecideInterrupt, sia.DecideRerun,
		sia.DecideRecover, sia.DecideTechnique, sia.DecideEscalate}
	for i, typ := range policies.Types() {
		if string(typ) != string(types[i]) {
			t.Errorf("policies decide %s where Step asks for %s", typ, types[i])
		}
	}
	recoveries := []string{sia.ChooseSIA, sia.ChooseRerun, sia.ChooseRetry, sia.ChooseOtherCoder, sia.ChoosePerson,
		sia.ChooseAbandon, sia.ChooseNextRacer}
	if d := cmp.Diff(recoveries, policies.Recoveries()); d != "" {
		t.Error(d)
	}
	if plan.Whole != policies.ChoiceWhole || plan.Reproduce != policies.ChoiceReproduce ||
		plan.Linear != policies.ChoiceLinear || plan.Parallel != policies.ChoiceParallel ||
		plan.Hierarchical != policies.ChoiceHierarchical {
		t.Error("a structure has two names")
	}
	parts := []string{"part", string(sia.PartTest), string(sia.PartMerge), string(sia.PartMend)}
	if d := cmp.Diff(parts, policies.Parts()); d != "" {
		t.Error(d)
	}
	if sia.ChooseAsk != policies.ChoiceAsk || sia.ChooseGoOn != policies.ChoiceGoOn {
		t.Error("whether a person is asked has two names")
	}
}

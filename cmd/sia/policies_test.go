package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sia-bot/sia/app/learn"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sia/technique"
)

// decisionLog fills a database.
type decisionLog struct {
	ts  *testscript.TestScript
	s   *store.Store
	set *policies.Set
	now time.Time
}

// decisions creates a database with acme/bookings, a policy each for the repository and its owner, a task, and many
// decisions with known outcomes. With the argument promoted there is also a change of a policy.
func decisions(ts *testscript.TestScript, _ bool, args []string) {
	ctx := context.Background()
	l := &decisionLog{ts: ts, now: time.Date(2026, 5, 4, 14, 0, 0, 0, time.UTC)}
	var err error
	l.s, err = store.Open(ctx, store.Config{URL: filepath.Join(ts.MkAbs(args[0]), "sia.db")})
	ts.Check(err)
	defer func() { ts.Check(l.s.Close()) }()
	_, _, err = l.s.Migrate(ctx)
	ts.Check(err)
	l.set = policies.ShippedSet()
	ts.Check(l.s.UpsertInstallation(ctx, store.Installation{ID: 1, Account: "acme"}))
	for i, file := range []string{"soon.yml", "again.yml"} {
		name := [...]string{".github", "bookings"}[i]
		ts.Check(l.s.UpsertRepository(ctx, store.Repository{Repo: sia.Repo{ID: int64(101 + i), Owner: "acme", Name: name},
			Installation: 1}))
		p, err := policies.Parse(file, []byte(ts.ReadFile(file)))
		ts.Check(err)
		ts.Check(l.s.SavePolicies(ctx, int64(101+i), store.PolicyRead{SHA: "abc"},
			[]store.PolicyFile{{Path: policies.Dir + "/" + file, Version: p.ID(), Source: p.Source}}))
	}
	for _, p := range l.set.All() {
		ts.Check(l.s.KeepPolicyVersion(ctx, p.ID(), string(p.Decision), p.Source))
	}
	old := strings.Replace(ts.ReadFile("again.yml"), "retry: 2", "retry: 1", 1)
	ts.Check(l.s.KeepPolicyVersion(ctx, "again/1@000000000001", "recover", old))
	if slices.Contains(args, "promoted") { // a change of the repository's policy, from an old version to the present one
		own, err := policies.Parse("again.yml", []byte(ts.ReadFile("again.yml")))
		ts.Check(err)
		ts.Check(l.s.SaveExperiment(ctx, "", store.Experiment{ID: "again-1-3fa9c2", Installation: 1, Alone: true, Number: 1,
			Place: sia.Repo{ID: 102, Owner: "acme", Name: "bookings"}, Layer: int(policies.Repository), Decision: "recover",
			Name: "again", Present: "again/1@000000000001", Candidate: own.ID(), Phase: store.ExperimentPromoted,
			PromotedAt: l.now, By: "SIA"}, "promoted"))
	}
	l.oneTask(ctx)
	for i := range 66 {
		c := policies.Context{Language: "go", Task: policies.Features{Kind: policies.KindBug, Words: 80}, Failures: 1,
			InARow: 1, Coders: 2, Class: "test_failure"}
		if i >= 22 {
			c.Task.Kind = policies.KindDocs
		}
		l.begin(ctx, 200+i)
		l.rules(ctx, 200+i, policies.TypeRecover, c, i < 2 || i >= 22 && i%3 > 0)
	}
	l.techniques(ctx, 150)
}

// logDecision logs a decision, and its result.
func (l *decisionLog) logDecision(ctx context.Context, d sia.Decision, resolved bool) {
	d.Repo, d.At = 102, l.now
	l.now = l.now.Add(time.Minute)
	l.ts.Check(l.s.LogDecision(ctx, d))
	outcome, credit := "not resolved", -0.4
	if resolved {
		outcome, credit = "resolved", 0.6
	}
	if d.Type == sia.DecideRerun {
		outcome = "green"
	}
	l.ts.Check(l.s.SettleDecision(ctx, d.ID, outcome, credit))
}

// rules logs the decision of the shipped rules in a context.
func (l *decisionLog) rules(ctx context.Context, issue int, typ policies.Type, c policies.Context, resolved bool) {
	p := l.set.For(typ, c)
	a := p.Escalate().Decide(c)
	switch typ {
	case policies.TypeDecompose:
		a = p.Decompose().Decide(c)
	case policies.TypeRecover:
		a = p.Recover().Decide(c)
	}
	l.logDecision(ctx, sia.Decision{ID: fmt.Sprint(typ, issue, c.Part), Task: sia.NewTaskID(102, issue), Attempt: 1,
		Type: sia.DecisionType(typ), Policy: p.ID(), Choice: a.Choice, Propensity: 1, Reason: a.Reason, Context: l.json(c),
		Options: l.json(a.Options)}, resolved)
}

func (l *decisionLog) json(v any) json.RawMessage {
	b, err := json.Marshal(v)
	l.ts.Check(err)
	return b
}

// begin creates the task of an issue.
func (l *decisionLog) begin(ctx context.Context, issue int) sia.TaskID {
	id := sia.NewTaskID(102, issue)
	_, err := l.s.Apply(ctx, id, sia.Event{ID: "start", At: l.now, By: sia.Actor{Login: "mia"}, Fact: sia.Start{
		Installation: 1, Repo: sia.Repo{ID: 102, Owner: "acme", Name: "bookings"}, Issue: issue, Title: "Fix the crash",
		DefaultBranch: "main",
	}})
	l.ts.Check(err)
	return id
}

// oneTask logs a decision of each type about acme/bookings#12.
func (l *decisionLog) oneTask(ctx context.Context) {
	id := l.begin(ctx, 12)
	c := policies.Context{Language: "go", Task: policies.Features{Kind: policies.KindBug, Words: 80, Ambiguity: 0.9},
		Failures: 3, InARow: 1, Class: "network", Rerunnable: true, Coders: 2, Failed: 1,
		Alone: policies.Tally{Tried: 9, Passed: 1}, Helped: policies.Tally{Tried: 9, Passed: 8}}
	l.logDecision(ctx, sia.Decision{ID: "a", Task: id, Type: sia.DecideAssign, Policy: "assign/1@000000000000",
		Choice: "small", Propensity: 0.96, Reason: "It costs least for each success.",
		Context: json.RawMessage(`{"task":{"kind":"bug"},"request":{"Failed":["big"],"Value":200,"Left":150}}`),
		Options: json.RawMessage(
			`[{"coder":"small","chance":0.4,"cost":3,"index":7.5,"worth":true,"propensity":0.96,"races":true},
			{"coder":"big","chance":0.1,"cost":30,"index":300,"propensity":0.04,"races":true}]`)}, false)
	l.logDecision(ctx, sia.Decision{ID: "b", Task: id, Type: sia.DecideAssign, Policy: "assign/1@000000000000",
		Choice: "alone", Propensity: 1, Reason: "It is alone.",
		Context: json.RawMessage(`{"task":{"kind":"bug"},"request":{"Value":0,"Left":150}}`),
		Options: json.RawMessage(`[{"coder":"alone","cost":3,"worth":true,"propensity":1}]`)}, false)
	l.rules(ctx, 12, policies.TypeRecover, c, false)
	l.rules(ctx, 12, policies.TypeEscalate, c, true)
	l.logDecision(ctx, sia.Decision{ID: "r", Task: id, Attempt: 1, Type: sia.DecideRerun, Policy: "rerun/1",
		Choice: "re-run", Propensity: 1, Reason: "It may be the weather.",
		Options: json.RawMessage(`["re-run","blame the attempt"]`),
		Context: json.RawMessage(`{"checks":["e2e","test"],"good":0.35,"flake":0.1,"chance":0.05,"cost":0.02}`)}, true)
	large := policies.Features{Kind: policies.KindFeature, Words: 400, Complexity: 0.9, CodeRefs: 8, Demands: 6}
	l.rules(ctx, 12, policies.TypeDecompose, policies.Context{Language: "go", Task: large, Checkable: true}, true)
	l.rules(ctx, 12, policies.TypeRecover, policies.Context{Language: "go", Task: large, Part: "part", Tries: 1, Coders: 2,
		Failed: 1}, true)
}

// techniques logs the choice of a new server.
func (l *decisionLog) techniques(ctx context.Context, n int) {
	p := l.set.For(policies.TypeTechnique, policies.Context{})
	learner := bandit.NewLearner(p.Technique())
	ch := learn.NewChooser(l.s, learner, "models", func() time.Time { return l.now })
	for i := range n {
		task := sia.Task{ID: l.begin(ctx, 1000+i), Repo: sia.Repo{ID: 102, Owner: "acme", Name: "bookings"},
			Approaches: 3, Attempts: []sia.Attempt{{Number: 1}}}
		q := diagnose.Choice{Pattern: sia.WrongTool,
			Candidates: []sia.Candidate{{Technique: sia.ToolChange}, {Technique: sia.FreshStart}}}
		chosen, err := ch.Choose(task, "go", sia.Effect{Key: fmt.Sprint("t", i), Attempt: 1}, q, p.Technique(),
			technique.Trials{})
		l.ts.Check(err)
		l.logDecision(ctx, *chosen.Decision, i%3 == 0)
	}
}

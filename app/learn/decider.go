package learn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/sia"
)

// Decider puts the questions of tasks to the policies in force, and learns who works well.
// Safe for concurrent use.
type Decider struct {
	store   *store.Store
	learner *coder.Learner
	now     func() time.Time

	mu     sync.Mutex
	last   int64             // id of the newest outcome that was read
	agents map[string]string // coder → agent and model that its outcomes are of
}

// NewDecider returns a decider that has not learned anything yet: it reads the recorded
// outcomes when it first decides.
func NewDecider(s *store.Store, l *coder.Learner, now func() time.Time) *Decider {
	return &Decider{store: s, learner: l, now: now, agents: map[string]string{}}
}

// asked is what a decision was made by, as the log keeps it.
type asked struct {
	policies.Context
	Wanted  string         `json:"wanted,omitempty"`  // a coder that a person asked for
	Request *coder.Request `json:"request,omitempty"` // of an assign decision
	Learned int            `json:"learned,omitempty"` // outcomes that the learner of coders had seen
}

// Context is the snapshot that a task's questions are decided in; language is the one that
// most files of the base are written in, coders how many may work.
func (d *Decider) Context(ctx context.Context, t sia.Task, language string, coders int) (policies.Context, error) {
	c := policies.Context{
		Owner: t.Repo.Owner, Repository: t.Repo.String(), Language: language, Labels: t.Labels,
		Task: policies.Read(t.Title, t.Body, t.Labels), Attempt: len(t.Attempts), Failures: t.Failures, InARow: t.InARow(),
		Class: class(t.Attempt()), Pattern: pattern(t), Approaches: t.ApproachesLeft(),
		Rerunnable: len(t.Gate.Failed) > 0 && t.Attempt() != nil && t.Attempt().Head == t.Head && t.Head != "",
		Waits:      t.Gate.Waits,
		Patience:   max(0, t.Settings.SIA.TriggerAfter-t.Failures), Coders: coders,
	}
	failed := t.FailedCoders()
	slices.Sort(failed)
	c.Failed = len(slices.Compact(failed))
	if t.Credits.Budget > 0 {
		c.Spent = min(1, float64(t.Credits.Spent+t.Credits.Overrun)/float64(t.Credits.Budget))
	}
	alone, helped, err := d.store.TaskEnds(ctx, t.Repo.ID, string(c.Task.Kind))
	c.Alone = policies.Tally{Tried: alone.Ended, Passed: alone.Passed}
	c.Helped = policies.Tally{Tried: helped.Ended, Passed: helped.Passed}
	return c, err
}

// Classes of failures that no check told of.
const (
	classUnchanged = "nothing_changed"
	classStuck     = "stuck"
)

// class is the class of an attempt's failure; "" when it has none.
func class(a *sia.Attempt) string {
	switch {
	case a == nil || a.Outcome != sia.AttemptFail:
		return ""
	case len(a.Failures) > 0:
		return a.Failures[0].Class
	case slices.ContainsFunc(a.Signals, func(s sia.Signal) bool { return s.Name == sia.AboutToStick }):
		return classStuck
	case a.Diff.Files == 0:
		return classUnchanged
	}
	return ""
}

// pattern is what the last diagnosis came to.
func pattern(t sia.Task) string {
	if t.Next != nil && t.Next.Diagnosis.Pattern != "" {
		return string(t.Next.Diagnosis.Pattern)
	}
	if n := len(t.Interventions); n > 0 {
		return string(t.Interventions[n-1].Diagnosis.Pattern)
	}
	return ""
}

// Decide answers the question of a decide effect. The answer is to be logged before it
// takes effect; the policy is the one that it was made by.
func (d *Decider) Decide(
	ctx context.Context, set *policies.Set, t sia.Task, f sia.Effect, language string, coders []coder.Candidate,
) (sia.Decision, policies.Policy, error) {
	c, err := d.Context(ctx, t, language, len(coders))
	if err != nil {
		return sia.Decision{}, policies.Policy{}, err
	}
	p, err := set.For(policies.Type(f.Question), c)
	if err != nil {
		return sia.Decision{}, p, err
	}
	by := asked{Context: c}
	var a policies.Answer
	var options any
	switch f.Question {
	case sia.DecideRecover:
		a = p.Recover().Decide(c)
		options = a.Options
	case sia.DecideEscalate:
		a = p.Escalate().Decide(c)
		options = a.Options
	case sia.DecideAssign:
		if err := d.catchUp(ctx); err != nil {
			return sia.Decision{}, p, err
		}
		by.Wanted = t.WantedCoder
		chosen := d.assign(p.Assign(), t, &by, coders)
		a, options = chosen.answer, chosen.options
	default:
		return sia.Decision{}, p, fmt.Errorf("nothing is known to decide about %q", f.Question)
	}
	out := sia.Decision{ID: f.Key, Task: t.ID, Repo: t.Repo.ID, Attempt: f.Attempt, Type: f.Question, Policy: p.ID(),
		Choice: a.Choice, Propensity: a.Propensity, Reason: a.Reason, At: d.now()}
	if a.Policy != "" {
		out.Policy = a.Policy
	}
	out.Context, err = json.Marshal(by)
	if err == nil {
		out.Options, err = json.Marshal(options)
	}
	return out, p, err
}

// unlimited are more credits than any attempt costs; JSON has no infinity.
const unlimited = 1e9

// assignment is who was chosen to work.
type assignment struct {
	answer  policies.Answer
	options []coder.Option
}

// assign chooses who makes the next attempt.
func (d *Decider) assign(p policies.Assign, t sia.Task, by *asked, coders []coder.Candidate) assignment {
	r := coder.Request{
		Task: string(t.ID), Org: t.Repo.Owner, Repo: strconv.FormatInt(t.Repo.ID, 10), Kind: string(by.Task.Kind),
		Failed: t.FailedCoders(), Value: value(t, len(coders)), Left: float64(t.Credits.Left()) / float64(sia.Credit),
		Changed: !slices.ContainsFunc(t.Attempts, func(a sia.Attempt) bool {
			return a.Outcome == sia.AttemptFail && t.Opening != nil && a.PromptHash == t.Opening.Hash
		}),
		Attempt: len(t.Attempts), Tries: t.ApproachesLeft() + 1,
	}
	if t.Worthwhile {
		r.Left = unlimited // what is left bounds the attempt all the same
	}
	last := ""
	if a := t.Attempt(); a != nil {
		last = a.Coder
	}
	for _, c := range coders {
		if !t.Elsewhere || c.Coder != last || c.Coder == t.WantedCoder || len(coders) == 1 {
			r.Candidates = append(r.Candidates, c)
		}
	}
	by.Request = &r
	i := slices.IndexFunc(r.Candidates, func(c coder.Candidate) bool { return c.Coder == t.WantedCoder })
	chosen := d.learner.DecideBy(p.Parameters, r)
	by.Learned = chosen.Learned
	if len(r.Candidates) == 1 && r.Value == 0 {
		chosen.Reason = "it is the only one that may work here"
	}
	out := assignment{answer: policies.Answer{Choice: chosen.Choice, Propensity: chosen.Propensity, Reason: chosen.Reason},
		options: chosen.Options}
	if t.WantedCoder != "" && i < 0 {
		out.answer.Reason += fmt.Sprintf(" A person asked for %s, which may not work in this repository.", t.WantedCoder)
	}
	if t.WantedCoder != "" && i >= 0 {
		out.answer = policies.Answer{Policy: policyPerson, Choice: t.WantedCoder, Propensity: 1,
			Reason: fmt.Sprintf("a person asked for %s with `/sia use`, which is binding", t.WantedCoder)}
	}
	return out
}

// value is what a solved task is worth in credits; 0: whatever it costs. With one coder
// there is nothing to choose, and the task's budget is limit enough.
func value(t sia.Task, coders int) float64 {
	switch set := t.Settings.Budget; {
	case t.Worthwhile:
		return 0
	case set.Value > 0:
		return float64(set.Value)
	case coders > 1:
		return float64(set.Task)
	}
	return 0
}

// catchUp tells the learner the outcomes that were recorded since it was last told, by this
// process or another: like [Chooser.catchUp]. A coder whose model changed begins with a
// quarter of what was learned of it.
func (d *Decider) catchUp(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	outcomes, err := d.store.CoderOutcomesSince(ctx, d.last)
	if err != nil {
		return err
	}
	for _, o := range outcomes {
		if err := learnCoder(d.learner, d.agents, o); err != nil {
			return err
		}
		d.last = o.ID
	}
	return nil
}

// learnCoder tells a learner the next outcome; agents are what earlier ones were of.
func learnCoder(l *coder.Learner, agents map[string]string, o store.CoderOutcome) error {
	if was := agents[o.Coder]; was != "" && was != o.Agent {
		if err := l.Discount(o.Coder, changed); err != nil {
			return err
		}
	}
	agents[o.Coder] = o.Agent
	l.Observe(coder.Outcome{
		Task: string(o.Task), Org: o.Org, Repo: strconv.FormatInt(o.Repo, 10), Kind: o.Kind, Coder: o.Coder,
		Cost: float64(o.Cost) / float64(sia.Credit), Resolved: o.Resolved, Failed: o.Failed, Changed: o.Changed,
	})
	return nil
}

// Observe records what came of a task's attempts and of the task, as far as it is known,
// and settles the decisions that led there. Doing it again changes nothing.
func (d *Decider) Observe(ctx context.Context, t sia.Task) error {
	decisions, err := d.store.Decisions(ctx, t.ID)
	if err != nil {
		return err
	}
	if t, err = d.store.Task(ctx, t.ID); err != nil { // newer than the decisions, the task knows each of them
		return err
	}
	features := policies.Read(t.Title, t.Body, t.Labels)
	if err := d.recordEnd(ctx, t, string(features.Kind)); err != nil {
		return err
	}
	var failed []string
	for _, a := range t.Attempts {
		if a.Outcome != sia.AttemptPass && a.Outcome != sia.AttemptFail || a.Coder == "" {
			continue
		}
		err := d.store.RecordCoderOutcome(ctx, store.CoderOutcome{
			Task: t.ID, Attempt: a.Number, Repo: t.Repo.ID, Org: t.Repo.Owner, Kind: string(features.Kind), Coder: a.Coder,
			Agent: a.Agent, Cost: a.Cost, Resolved: a.Outcome == sia.AttemptPass, Failed: slices.Clone(failed),
			Changed: anew(t, a.Number), At: d.now(),
		})
		if err != nil {
			return err
		}
		if a.Outcome == sia.AttemptFail {
			failed = append(failed, a.Coder)
		}
	}
	return d.settle(ctx, t, decisions)
}

// anew reports whether an attempt went by other instructions than every one before it that failed.
func anew(t sia.Task, number int) bool {
	i := slices.IndexFunc(t.Attempts, func(a sia.Attempt) bool { return a.Number == number })
	return !slices.ContainsFunc(t.Attempts[:i], func(a sia.Attempt) bool {
		return a.Outcome == sia.AttemptFail && a.PromptHash == t.Attempts[i].PromptHash
	})
}

// recordEnd notes what came of a task that has ended, or that waits for a person.
func (d *Decider) recordEnd(ctx context.Context, t sia.Task, kind string) error {
	asked := t.State == sia.Escalated && t.Escalation.Kind == sia.AskIssue
	failed := slices.ContainsFunc(t.Attempts, func(a sia.Attempt) bool { return a.Outcome == sia.AttemptFail })
	if t.State != sia.Passed && !asked && !(t.State == sia.Stopped && failed) {
		return nil
	}
	helped := slices.ContainsFunc(t.Answers, func(a sia.Answer) bool { return a.Kind == sia.AskIssue })
	return d.store.RecordTaskEnd(ctx, store.TaskEnd{Task: t.ID, Repo: t.Repo.ID, Kind: kind,
		Passed: t.State == sia.Passed, Helped: helped})
}

// settle notes what came of decisions: of the attempt that each led to.
func (d *Decider) settle(ctx context.Context, t sia.Task, decisions []sia.Decision) error {
	for _, dec := range decisions {
		if dec.Outcome != "" {
			continue
		}
		var expected float64
		switch dec.Type {
		case sia.DecideAssign:
			var options []coder.Option
			if err := json.Unmarshal(dec.Options, &options); err != nil {
				return fmt.Errorf("read decision %s: %w", dec.ID, err)
			}
			for _, o := range options {
				expected += o.Propensity * o.Chance
			}
		case sia.DecideRecover, sia.DecideEscalate:
			var by asked
			if err := json.Unmarshal(dec.Context, &by); err != nil {
				return fmt.Errorf("read decision %s: %w", dec.ID, err)
			}
			expected = float64(by.Alone.Passed+1) / float64(by.Alone.Tried+2)
		default:
			continue
		}
		came, y := cameOf(t, dec)
		if came == "" {
			continue
		}
		credit := 0.0
		if came != cameUntried {
			credit = y - expected
		}
		if err := d.store.SettleDecision(ctx, dec.ID, came, credit); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// cameOf is what came of a decision: of the first judged attempt after it. It is "" while
// that is not known, and untried once it never will be.
func cameOf(t sia.Task, d sia.Decision) (came string, y float64) {
	if d.Type == sia.DecideAssign && d.Choice == sia.ChooseNobody {
		return cameUntried, 0
	}
	for _, a := range t.Attempts {
		switch {
		case a.Number < d.Attempt || a.Number == d.Attempt && d.Choice != sia.ChooseRerun: // made before
		case a.Outcome == sia.AttemptPass:
			return cameResolved, 1
		case a.Outcome == sia.AttemptFail:
			return cameFailed, 0
		}
	}
	if t.State.Final() {
		return cameUntried, 0
	}
	return "", 0
}

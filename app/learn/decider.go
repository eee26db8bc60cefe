package learn

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/policies/priors"
	"github.com/sia-bot/sia/sia"
)

// Trials says by which policy a task is decided about: by the one in force, unless a changed one is
// being tried on it.
type Trials interface {
	For(ctx context.Context, t sia.Task, typ policies.Type, set *policies.Set, c policies.Context) (policies.Policy, error)
}

// Decider puts the questions of tasks to the policies in force, and learns who works well.
// Safe for concurrent use.
type Decider struct {
	store   DeciderStore
	learner *coder.Learner
	trials  Trials
	now     func() time.Time
	// whether a part is done can be checked on this server
	checkable bool

	others imported

	mu     sync.Mutex
	last   int64               // id of the newest outcome that was read
	agents map[string][]string // coder → agents and models that its outcomes are of
}

// NewDecider returns a decider that has not learned anything yet: it reads the recorded
// outcomes when it first decides. checkable tells whether commands can be run on this server:
// without that nobody can tell whether a part is done.
func NewDecider(
	s DeciderStore, l *coder.Learner, trials Trials, checkable bool, now func() time.Time,
) *Decider {
	return &Decider{store: s, learner: l, trials: trials, checkable: checkable, now: now, agents: map[string][]string{}}
}

// asked is what a decision was made by, as the log keeps it.
type asked struct {
	policies.Context
	Wanted  string         `json:"wanted,omitempty"`  // a coder that a person asked for
	Request *coder.Request `json:"request,omitempty"` // of an assign decision
	Learned int            `json:"learned,omitempty"` // outcomes that the learner of coders had seen
	byImport
}

// Context is the snapshot that a task's questions are decided in; language is the one that
// most files of the base are written in, coders how many may work.
func (d *Decider) Context(ctx context.Context, t sia.Task, language string, coders int) (policies.Context, error) {
	c := policies.Context{
		Owner: t.Repo.Owner, Repository: t.Repo.String(), Language: language, Labels: t.Labels,
		Task: policies.Read(t.Title, t.Body, t.Labels), Attempt: len(t.Attempts), Failures: t.Failures,
		InARow: t.ConsecutiveFailures(), Class: class(t.Attempt()), Pattern: pattern(t), Approaches: t.ApproachesLeft(),
		Rerunnable: len(t.Gate.Failed) > 0 && t.Attempt() != nil && t.Attempt().Head == t.Head && t.Head != "",
		Waits:      t.Gate.Waits, Steps: len(t.Brief.Steps), Technique: string(t.Brief.Technique), Checkable: d.checkable,
		Patience: max(0, t.Settings.SIA.TriggerAfter-t.Failures), Coders: coders,
	}
	if a := t.Attempt(); a != nil {
		c.Racers = a.RacersLeft()
	}
	c.Failed = distinct(t.FailedCoders())
	if t.Credits.Budget > 0 {
		c.Spent = min(1, float64(t.Credits.Cost())/float64(t.Credits.Budget))
	}
	alone, helped, err := d.store.TaskEnds(ctx, t.Repo.ID, string(c.Task.Kind))
	c.Alone = policies.Tally{Tried: alone.Ended, Passed: alone.Passed}
	c.Helped = policies.Tally{Tried: helped.Ended, Passed: helped.Passed}
	return c, err
}

// InForce is the policy that decides about a task within another effect than that of deciding.
func (d *Decider) InForce(
	ctx context.Context, set *policies.Set, t sia.Task, typ policies.Type, language string, coders int,
) (policies.Policy, error) {
	c, err := d.Context(ctx, t, language, coders)
	if err != nil {
		return policies.Policy{}, err
	}
	return d.trials.For(ctx, t, typ, set, c)
}

// ofPart makes a context that of a part that failed: class and failed coders are its own.
func ofPart(c policies.Context, t sia.Task, p sia.Part) policies.Context {
	c.Part, c.Tries, c.Class = cmp.Or(string(p.Kind), "part"), p.Tries, ""
	if p.Checked != nil {
		c.Class = p.Checked.Class
	}
	c.Failed = distinct(append(t.FailedCoders(), p.Failed...))
	return c
}

// distinct is how many different names there are.
func distinct(names []string) int {
	slices.Sort(names)
	return len(slices.Compact(names))
}

// partOf is the part that a question is about; nil: the attempt.
func partOf(t sia.Task, f sia.Effect) (*sia.Part, error) {
	a := t.Attempt()
	switch {
	case f.Part == 0:
		return nil, nil //nolint:nilnil // most questions are about no part
	case a == nil || f.Part < 0 || f.Part > len(a.Parts):
		return nil, fmt.Errorf("decide %s: task %s has no part %d", f.Question, t.ID, f.Part)
	}
	return &a.Parts[f.Part-1], nil
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

// pattern is the pattern of the last diagnosis.
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
	part, err := partOf(t, f)
	if err != nil {
		return sia.Decision{}, policies.Policy{}, err
	}
	c, err := d.Context(ctx, t, language, len(coders))
	if err != nil {
		return sia.Decision{}, policies.Policy{}, err
	}
	if part != nil {
		c = ofPart(c, t, *part)
	}
	p, err := d.trials.For(ctx, t, policies.Type(f.Question), set, c)
	if err != nil {
		return sia.Decision{}, p, err
	}
	by := asked{Context: c}
	var a policies.Answer
	var options any
	switch f.Question {
	case sia.DecideDecompose, sia.DecideRecover, sia.DecideEscalate:
		answer, chance := byRules(p, c)
		a = answer.LeaveToChance(chance, drawn("chance "+f.Key))
		options = a.Options
	case sia.DecideAssign:
		if err := d.catchUp(ctx); err != nil {
			return sia.Decision{}, p, err
		}
		chosen := d.assign(p.Assign(), t, part, &by, coders)
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

// byRules is what a policy of rules answers, and the share of such answers that it leaves to chance.
func byRules(p policies.Policy, c policies.Context) (a policies.Answer, chance float64) {
	switch p.Decision {
	case policies.TypeDecompose:
		d := p.Decompose()
		return d.Decide(c), d.Parameters.Chance
	case policies.TypeRecover:
		r := p.Recover()
		return r.Decide(c), r.Parameters.Chance
	}
	e := p.Escalate()
	return e.Decide(c), e.Parameters.Chance
}

// unlimited are more credits than any attempt costs; JSON has no infinity.
const unlimited = 1e9

// credits are what a ledger counts, in whole credits.
func credits(c sia.Credits) float64 { return float64(c) / float64(sia.Credit) }

// assignment is who was chosen to work.
type assignment struct {
	answer  policies.Answer
	options []coder.Option
}

// assign chooses who makes the next attempt, or who tries a part of the present one. A wish is
// for an attempt. One of those who may race is chosen as if it worked alone.
func (d *Decider) assign(
	p policies.Assign, t sia.Task, part *sia.Part, by *asked, coders []coder.Candidate,
) assignment {
	r := coder.Request{
		Task: string(t.ID), Org: t.Repo.Owner, Repo: strconv.FormatInt(t.Repo.ID, 10), Kind: string(by.Task.Kind),
		Failed: t.FailedCoders(), Value: value(t, len(coders)), Left: credits(t.Credits.Left()),
		Changed: !slices.ContainsFunc(t.Attempts, func(a sia.Attempt) bool {
			return a.Outcome == sia.AttemptFail && t.Opening != nil && a.PromptHash == t.Opening.Hash
		}),
		Attempt: len(t.Attempts), Tries: t.ApproachesLeft() + 1, Alone: !t.Whole(),
	}
	wanted := t.WantedCoder
	var avoid []string // who is to work only where nobody else may
	if a := t.Attempt(); a != nil && t.Elsewhere {
		avoid = []string{a.Coder}
	}
	if part != nil {
		wanted, avoid = "", part.Failed
		forPart(&r, *part)
	}
	if t.Worthwhile {
		r.Left = unlimited // what is left bounds the attempt all the same
	}
	var others *priors.Priors
	by.byImport, others = d.others.of(t.ID)
	var known []coder.Candidate
	for _, c := range coders {
		if others != nil && c.Known != "" {
			c.Imported = coder.Tally(others.Coder(by.Language, r.Kind, c.Known))
		}
		known = append(known, c)
		if !slices.Contains(avoid, c.Coder) || c.Coder == wanted {
			r.Candidates = append(r.Candidates, c)
		}
	}
	if len(r.Candidates) == 0 {
		r.Candidates = known
	}
	by.Request, by.Wanted = &r, wanted
	i := slices.IndexFunc(r.Candidates, func(c coder.Candidate) bool { return c.Coder == wanted })
	r.Alone = r.Alone || wanted != "" && i >= 0
	chosen := d.learner.DecideBy(p.Parameters, r)
	by.Learned = chosen.Learned
	if len(r.Candidates) == 1 && r.Value == 0 {
		chosen.Reason = "it is the only one that may work here"
	}
	out := assignment{answer: policies.Answer{Choice: chosen.Choice, Propensity: chosen.Propensity, Reason: chosen.Reason},
		options: chosen.Options}
	if wanted != "" && i < 0 {
		out.answer.Reason += fmt.Sprintf(" A person asked for %s, which may not work in this repository.", wanted)
	}
	if wanted != "" && i >= 0 {
		out.answer = policies.Answer{Policy: policyPerson, Choice: wanted, Propensity: 1,
			Reason: fmt.Sprintf("a person asked for %s with `/sia use`, which is binding", wanted)}
	}
	return out
}

// forPart makes a request that for a part: the same is to be tried again. What a part costs and
// is worth is not known, for outcomes are of attempts. So the least cost per success is looked for;
// what is set aside for the attempt bounds its runs all the same.
func forPart(r *coder.Request, p sia.Part) {
	for _, f := range p.Failed { // that one fails at a part again says little more
		if !slices.Contains(r.Failed, f) {
			r.Failed = append(r.Failed, f)
		}
	}
	r.Value, r.Left, r.Changed, r.Alone = 0, unlimited, false, true
	r.Seed = uint64(p.Run) // every question throws its own dice
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
// process or another: like [Chooser.catchUp]. A coder with a model that it never had begins
// with a quarter of what was learned of it.
func (d *Decider) catchUp(ctx context.Context) error {
	if err := d.others.catchUp(ctx, d.store); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	outcomes, err := d.store.CoderOutcomesSince(ctx, d.last)
	if err != nil {
		return err
	}
	for _, o := range outcomes {
		learnCoder(d.learner, d.agents, o)
		d.last = o.ID
	}
	return nil
}

// learnCoder tells a learner the next outcome; agents are what earlier ones were of. An agent or a model that a coder
// had before is no change: where some repositories name a command, outcomes of it and of the builtin agent take turns.
func learnCoder(l *coder.Learner, agents map[string][]string, o store.CoderOutcome) {
	if known := agents[o.Coder]; o.Agent != "" && !slices.Contains(known, o.Agent) {
		if len(known) > 0 {
			l.Discount(o.Coder, changed)
		}
		agents[o.Coder] = append(known, o.Agent)
	}
	l.Observe(coder.Outcome{
		Task: string(o.Task), Org: o.Org, Repo: strconv.FormatInt(o.Repo, 10), Kind: o.Kind, Coder: o.Coder,
		Cost: credits(o.Cost), Resolved: o.Resolved, Failed: o.Failed, Changed: o.Changed,
	})
}

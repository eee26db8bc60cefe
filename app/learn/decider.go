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

// Trials selects the policy for a task: the one in force, unless a changed one is on trial for it.
type Trials interface {
	For(ctx context.Context, t sia.Task, typ policies.Type, set *policies.Set, c policies.Context) (policies.Policy, error)
}

// Decider makes decisions about tasks by the policies in force, and learns which coders work well. It is safe for
// concurrent use.
type Decider struct {
	store   DeciderStore
	learner *coder.Learner
	trials  Trials
	now     func() time.Time
	// reports whether it can be checked that a part is done
	checkable func(context.Context) bool

	others importCache

	mu     sync.Mutex
	last   int64               // id of the newest outcome read
	agents map[string][]string // coder → agents and models in its outcomes
}

// NewDecider returns a decider without any outcomes: it reads the recorded ones when it first decides. checkable
// reports whether commands can be run, here or by a runner: otherwise parts can't be checked.
func NewDecider(
	s DeciderStore, l *coder.Learner, trials Trials, checkable func(context.Context) bool, now func() time.Time,
) *Decider {
	return &Decider{store: s, learner: l, trials: trials, checkable: checkable, now: now, agents: map[string][]string{}}
}

// decisionInput is the input of a decision, as stored in the log.
type decisionInput struct {
	policies.Context
	Wanted  string         `json:"wanted,omitempty"`  // a coder requested by a user
	Request *coder.Request `json:"request,omitempty"` // of an assign decision
	Learned int            `json:"learned,omitempty"` // outcomes that the coder learner had seen
	byImport
}

// Context returns the snapshot of a task for its decisions; language is the language of most files of the base, coders
// the number of coders that may work.
func (d *Decider) Context(ctx context.Context, t sia.Task, language string, coders int) (policies.Context, error) {
	c := policies.Context{
		Owner: t.Repo.Owner, Repository: t.Repo.String(), Language: language, Labels: t.Labels,
		Task: policies.Read(t.Title, t.Body, t.Labels), Failures: t.Failures,
		InARow: t.ConsecutiveFailures(), Class: class(t.Attempt()), Pattern: pattern(t),
		Rerunnable: len(t.Gate.Failed) > 0 && t.Attempt() != nil && t.Attempt().Head == t.Head && t.Head != "",
		Waits:      t.Gate.Waits, Steps: len(t.Brief.Steps), Technique: string(t.Brief.Technique),
		Checkable: d.checkable(ctx), Patience: max(0, t.Settings.SIA.TriggerAfter-t.Failures), Coders: coders,
	}
	if a := t.Attempt(); a != nil {
		c.Racers = a.RacersLeft()
	}
	c.Failed = countDistinct(t.FailedCoders())
	alone, helped, err := d.store.TaskEnds(ctx, t.Repo.ID, string(c.Task.Kind))
	c.Alone = policies.Tally{Tried: alone.Ended, Passed: alone.Passed}
	c.Helped = policies.Tally{Tried: helped.Ended, Passed: helped.Passed}
	return c, err
}

// InForce returns the policy for a decision about a task that is made within an effect other than [sia.DoDecide], and
// the context of the decision.
func (d *Decider) InForce(
	ctx context.Context, set *policies.Set, t sia.Task, typ policies.Type, language string, coders int,
) (p policies.Policy, c policies.Context, err error) {
	if c, err = d.Context(ctx, t, language, coders); err == nil {
		p, err = d.trials.For(ctx, t, typ, set, c)
	}
	return p, c, err
}

// partContext returns the context of a failed part, with the part's class and failed coders.
func partContext(c policies.Context, t sia.Task, p sia.Part) policies.Context {
	c.Part, c.Tries, c.Class = cmp.Or(string(p.Kind), "part"), p.Tries, ""
	if p.Checked != nil {
		c.Class = p.Checked.Class
	}
	c.Failed = countDistinct(append(t.FailedCoders(), p.Failed...))
	return c
}

// countDistinct returns the number of different names.
func countDistinct(names []string) int {
	slices.Sort(names)
	return len(slices.Compact(names))
}

// partOf returns the part that a question is about; nil: the attempt.
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

// Classes of failures without a failed check.
const (
	classUnchanged = "nothing_changed"
	classStuck     = "stuck"
)

// class returns the class of an attempt's failure; "" if it has none.
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

// pattern returns the pattern of the last diagnosis.
func pattern(t sia.Task) string {
	if t.Next != nil && t.Next.Diagnosis.Pattern != "" {
		return string(t.Next.Diagnosis.Pattern)
	}
	if n := len(t.Interventions); n > 0 {
		return string(t.Interventions[n-1].Diagnosis.Pattern)
	}
	return ""
}

// Decide answers the question of a decide effect. The caller logs the answer before it takes effect. The returned
// policy made the decision.
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
		c = partContext(c, t, *part)
	}
	p, err := d.trials.For(ctx, t, policies.Type(f.Question), set, c)
	if err != nil {
		return sia.Decision{}, p, err
	}
	by := decisionInput{Context: c}
	var a policies.Answer
	var options any
	switch f.Question {
	case sia.DecideDecompose, sia.DecideRecover, sia.DecideEscalate:
		answer, chance := applyRules(p, c)
		a = answer.LeaveToChance(chance, uniform("chance "+f.Key))
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

// applyRules returns a rule-based policy's answer, and the share of its decisions that are randomized.
func applyRules(p policies.Policy, c policies.Context) (a policies.Answer, chance float64) {
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

// unlimited is more credits than any attempt costs; JSON has no infinity.
const unlimited = 1e9

// credits converts c to whole credits.
func credits(c sia.Credits) float64 { return float64(c) / float64(sia.Credit) }

// assignment is the choice of a coder.
type assignment struct {
	answer  policies.Answer
	options []coder.Option
}

// assign chooses the coder of the next attempt, or of a part of the present one. A user's request applies to attempts.
// A coder that may race is chosen as if it worked alone.
func (d *Decider) assign(
	p policies.Assign, t sia.Task, part *sia.Part, by *decisionInput, coders []coder.Candidate,
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
	var avoid []string // coders to use only if there is no other
	if a := t.Attempt(); a != nil && t.Elsewhere {
		avoid = []string{a.Coder}
	}
	if part != nil {
		wanted, avoid = "", part.Failed
		forPart(&r, *part)
	}
	if t.Worthwhile {
		r.Left = unlimited // the remaining credits still limit the attempt
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
		out.answer = policies.Answer{Policy: policyUser, Choice: wanted, Propensity: 1,
			Reason: fmt.Sprintf("a person asked for %s with `/sia use`, which is binding", wanted)}
	}
	return out
}

// forPart changes a request for a repeated try of a part. Cost and value of a part are unknown because outcomes are of
// attempts. So the least cost per success is preferred; the attempt's reserve still limits its runs.
func forPart(r *coder.Request, p sia.Part) {
	for _, f := range p.Failed { // failing again at a part is weak evidence
		if !slices.Contains(r.Failed, f) {
			r.Failed = append(r.Failed, f)
		}
	}
	r.Value, r.Left, r.Changed, r.Alone = 0, unlimited, false, true
	r.Seed = uint64(p.Run) // independent randomness for each question
}

// value returns the value of a solved task in credits; 0: unlimited. With one coder there is no choice, and the task's
// budget is a sufficient limit.
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

// catchUp feeds the learner the outcomes recorded since its last call, by this process or another, like
// [Chooser.catchUp]. A coder with a new model starts with a quarter of its previous evidence.
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

// learnCoder feeds the next outcome to a learner; agents are those of earlier outcomes. An agent or model that a coder
// used before is no change: if some repositories configure a command, its outcomes alternate with the builtin agent's.
// Models that answered because the first could not are no change either, but an outcome of an earlier version has only
// the names of those that answered.
func learnCoder(l *coder.Learner, agents map[string][]string, o store.CoderOutcome) {
	setup := cmp.Or(o.Setup, o.Agent)
	if known := agents[o.Coder]; setup != "" && !slices.Contains(known, setup) {
		if len(known) > 0 {
			l.Discount(o.Coder, setupDiscount)
		}
		agents[o.Coder] = append(known, setup)
	}
	l.Observe(coder.Outcome{
		Task: string(o.Task), Org: o.Org, Repo: strconv.FormatInt(o.Repo, 10), Kind: o.Kind, Coder: o.Coder,
		Cost: credits(o.Cost), Resolved: o.Resolved, Failed: o.Failed, Changed: o.Changed,
	})
}

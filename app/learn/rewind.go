package learn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/invalid"
)

// Rewind repeats logged decisions by another policy, with what had been learned when each was made. It is fastest in
// the order of the log. It is not safe for concurrent use.
type Rewind struct {
	read func(id string) (policies.Policy, error) // a policy by its id

	techniques     []store.Outcome // all, in order
	technique      *bandit.Learner
	seen           replay
	techniqueCount int // number of technique outcomes learned

	coders     []store.CoderOutcome
	coder      *coder.Learner
	agents     map[string][]string
	coderCount int // number of coder outcomes learned
}

// ReplayResult is a policy's choice.
type ReplayResult struct {
	Choice  string
	Racers  []string // coders that work in parallel, the choice first; empty: only one
	Options []Chance // of all options
	Reason  string   // for users
}

// Chance is an option with its probability, 0–1.
type Chance struct {
	Choice      string
	Probability float64
}

// Reasons why a logged decision can't be repeated.
const (
	reasonUser    = "a person's wish decided it"
	reasonContext = "its context was not kept"
	reasonPolicy  = "the policy that it was made by was not kept"
	reasonLearned = "what had been learned then can't be rebuilt from the outcomes"
	reasonCounts  = "the log has what the priors came to with the counts of then, not the counts"
	reasonWeights = "the weights are learned from attempts, and the log does not have them"
	tolerance     = 1e-9
)

// NewRewind reads the outcomes from which decisions were learned.
func NewRewind(ctx context.Context, s RewindStore) (*Rewind, error) {
	r := &Rewind{}
	known := map[string]policies.Policy{}
	r.read = func(id string) (policies.Policy, error) {
		if p, ok := known[id]; ok {
			return p, nil
		}
		source, err := s.PolicyVersion(ctx, id)
		if err != nil {
			return policies.Policy{}, err
		}
		p, err := policies.Parse(id, []byte(source))
		if err == nil {
			known[id] = p
		}
		return p, err
	}
	var err, errCoders error
	r.techniques, err = s.OutcomesSince(ctx, 0)
	r.coders, errCoders = s.CoderOutcomesSince(ctx, 0)
	r.resetTechniques()
	r.resetCoders()
	return r, errors.Join(err, errCoders)
}

// resetTechniques resets the technique learner to its state at server start.
func (r *Rewind) resetTechniques() {
	r.technique = bandit.NewLearner(policies.ShippedTechnique())
	r.seen, r.techniqueCount = replay{}, 0
}

func (r *Rewind) resetCoders() {
	r.coder = coder.New(policies.ShippedAssign().Parameters)
	r.agents, r.coderCount = map[string][]string{}, 0
}

// Decide repeats a decision by a policy of its type. If that is impossible, it returns only why, the reason for users.
func (r *Rewind) Decide(p policies.Policy, d sia.Decision) (a ReplayResult, why string, err error) {
	if d.Policy == policyUser {
		return a, reasonUser, nil
	}
	switch policies.Type(d.Type) {
	case policies.TypeDecompose, policies.TypeRecover, policies.TypeEscalate:
		c, ok := Snapshot(d)
		if !ok {
			return a, reasonContext, nil
		}
		by, _ := applyRules(p, c)
		return ReplayResult{Choice: by.Choice, Options: []Chance{{by.Choice, 1}}, Reason: by.Reason}, "", nil
	case policies.TypeInterrupt:
		return a, reasonWeights, nil
	case policies.TypeAssign:
		return r.decideIfReproduced(p, d, r.assign)
	case policies.TypeTechnique:
		return r.decideIfReproduced(p, d, r.choose)
	}
	return a, reasonCounts, nil
}

// decideIfReproduced decides by p if the original policy reproduces the logged decision: otherwise the learned state
// was different then.
func (r *Rewind) decideIfReproduced(
	p policies.Policy, d sia.Decision, decide func(policies.Policy, sia.Decision) (ReplayResult, bool, error),
) (a ReplayResult, why string, err error) {
	by, err := r.read(d.Policy)
	var bad *invalid.File // a version of an earlier SIA's form
	if errors.Is(err, store.ErrNotFound) || errors.As(err, &bad) {
		return a, reasonPolicy, nil
	}
	if err != nil {
		return a, "", err
	}
	was, ok, err := decide(by, d)
	if err != nil || !ok {
		return a, reasonContext, err
	}
	i := slices.IndexFunc(was.Options, func(o Chance) bool { return o.Choice == d.Choice })
	nobody := was.Choice == "" && d.Choice == ""
	if was.Choice != d.Choice || !nobody && (i < 0 || math.Abs(was.Options[i].Probability-d.Propensity) > tolerance) {
		return a, reasonLearned, nil
	}
	a, _, err = decide(p, d)
	return a, "", err
}

// choose decides about a technique. ok is false if the log does not have the question.
func (r *Rewind) choose(p policies.Policy, d sia.Decision) (a ReplayResult, ok bool, err error) {
	q, err := questionOf(d)
	if err != nil {
		return a, false, err
	}
	if len(q.Candidates) == 0 || q.Learned > len(r.techniques) {
		return a, false, nil
	}
	if q.Learned < r.techniqueCount {
		r.resetTechniques()
	}
	r.seen.learn(r.technique, r.techniques[r.techniqueCount:q.Learned])
	r.techniqueCount = q.Learned
	by := p.Technique()
	chosen := q.decide(r.technique, &by)
	a.Choice, a.Reason = chosen.Choice, chosen.Reason
	for _, o := range chosen.Options {
		a.Options = append(a.Options, Chance{o.Technique, o.Propensity})
	}
	return a, true, nil
}

// assign chooses a coder. ok is false if the log does not have the question.
func (r *Rewind) assign(p policies.Policy, d sia.Decision) (a ReplayResult, ok bool, err error) {
	var by decisionInput
	if err := json.Unmarshal(d.Context, &by); err != nil {
		return a, false, fmt.Errorf("read decision %s: %w", d.ID, err)
	}
	if by.Request == nil {
		return a, false, nil
	}
	if by.Learned > len(r.coders) {
		return a, false, nil
	}
	if by.Learned < r.coderCount {
		r.resetCoders()
	}
	for ; r.coderCount < by.Learned; r.coderCount++ {
		learnCoder(r.coder, r.agents, r.coders[r.coderCount])
	}
	chosen := r.coder.DecideBy(p.Assign().Parameters, *by.Request)
	a.Choice, a.Reason, a.Racers = chosen.Choice, chosen.Reason, coder.Racers(chosen.Options, chosen.Choice)
	for _, o := range chosen.Options {
		a.Options = append(a.Options, Chance{o.Coder, o.Propensity})
	}
	return a, true, nil
}

// Snapshot returns the context of a decision; ok is false if the log does not have it, as for techniques, and for
// decisions that an older SIA made within another effect.
func Snapshot(d sia.Decision) (c policies.Context, ok bool) {
	switch d.Type {
	case sia.DecideDecompose, sia.DecideAssign, sia.DecideRecover, sia.DecideEscalate, sia.DecideRerun,
		sia.DecideInterrupt:
		err := json.Unmarshal(d.Context, &c)
		return c, err == nil && c.Task.Kind != ""
	}
	return c, false
}

// Snapshots returns the contexts of decisions, which are in the order of the log. A decision without a context gets
// that of the previous decision of its task, or else the next one, completed from the decision; ok is false if the task
// has none at all.
func Snapshots(ds []sia.Decision) (contexts []policies.Context, ok []bool) {
	contexts, ok = make([]policies.Context, len(ds)), make([]bool, len(ds))
	last, waiting := map[sia.TaskID]policies.Context{}, map[sia.TaskID][]int{}
	for i, d := range ds {
		c, own := Snapshot(d)
		before, known := last[d.Task]
		switch {
		case own:
			last[d.Task] = c
			contexts[i], ok[i] = c, true
			for _, j := range waiting[d.Task] {
				contexts[j], ok[j] = completeContext(c, ds[j]), true
			}
			delete(waiting, d.Task)
		case known:
			contexts[i], ok[i] = completeContext(before, d), true
		default:
			waiting[d.Task] = append(waiting[d.Task], i)
		}
	}
	return contexts, ok
}

// completeContext completes a task's context from a decision.
func completeContext(c policies.Context, d sia.Decision) policies.Context {
	if d.Type == sia.DecideTechnique {
		var q question
		if err := json.Unmarshal(d.Context, &q); err == nil && q.Pattern != "" {
			c.Pattern = q.Pattern
		}
	}
	return c
}

// Resolved reports whether the attempt that followed a decision was resolved; known is false if it is open or was never
// tried, or if the outcome is of another kind.
func Resolved(d sia.Decision) (resolved, known bool) {
	switch {
	case d.Type == sia.DecideInterrupt:
		return false, false
	case d.Type == sia.DecideRerun:
		return d.Outcome == string(sia.VerdictGreen), d.Outcome != ""
	}
	return d.Outcome == outcomeResolved, d.Outcome == outcomeResolved || d.Outcome == outcomeFailed
}

// Racers returns the coders that a decision started in parallel, the choice first; none: it started one.
func Racers(d sia.Decision) []string {
	var options []coder.Option
	if d.Type != sia.DecideAssign || json.Unmarshal(d.Options, &options) != nil {
		return nil
	}
	return coder.Racers(options, d.Choice)
}

// Chances returns the options of a decision with their logged probabilities: 0 if there is none, as in decisions that
// are not randomized.
func Chances(d sia.Decision) []Chance {
	var options []struct {
		Technique, Coder, Choice string
		Propensity               float64
	}
	if json.Unmarshal(d.Options, &options) != nil {
		return nil // only names
	}
	out := make([]Chance, len(options))
	for i, o := range options {
		out[i] = Chance{o.Technique + o.Coder + o.Choice, o.Propensity}
	}
	return out
}

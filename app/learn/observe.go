package learn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/sia"
)

// The outcomes of a decision.
const (
	outcomeResolved = "resolved"     // the attempt's checks were green
	outcomeFailed   = "not resolved" // they were red, or the attempt ran out of its own time
	outcomeUntried  = "not tried"    // the reviewer refused it, or the task took another course
	// the coder is not judged: the attempt was not judged, or the task was solved before it began
	outcomeUncounted = "not counted"
)

// setupDiscount is the factor applied to counts when outcomes start to use other models or prompts
// (docs/learning.md#the-choice).
const setupDiscount = 0.25

// replay is the learner's position in the outcomes.
type replay struct {
	mu     sync.Mutex
	last   int64           // id of the newest outcome read
	setups map[string]bool // seen so far
}

// catchUp feeds the learner the outcomes recorded since its last call, by this process or another, and reads new
// imports. The learner's state depends only on the recorded outcomes in their order, so that all replicas make the same
// decisions, also after a restart.
//
// The first outcome with models and prompts not seen before discounts earlier evidence. Returning to earlier ones, as
// replicas do while a new version is rolled out, discounts nothing again; nor do outcomes from a memory branch.
func (ch *Chooser) catchUp(ctx context.Context) error {
	if err := ch.others.catchUp(ctx, ch.store); err != nil {
		return err
	}
	r := &ch.replay
	r.mu.Lock()
	defer r.mu.Unlock()
	outcomes, err := ch.store.OutcomesSince(ctx, r.last)
	if err != nil {
		return err
	}
	r.learn(ch.learner, outcomes)
	return nil
}

// learn feeds the next outcomes to a learner.
func (r *replay) learn(l Learner, outcomes []store.Outcome) {
	for len(outcomes) > 0 {
		setup := outcomes[0].Setup
		n := slices.IndexFunc(outcomes, func(o store.Outcome) bool { return o.Setup != setup })
		if n < 0 {
			n = len(outcomes)
		}
		switch {
		case setup == store.RestoredSetup: // unknown
		case r.setups == nil:
			r.setups = map[string]bool{setup: true}
		case !r.setups[setup]:
			l.Discount(setupDiscount)
			r.setups[setup] = true
		}
		l.Observe(toBandit(outcomes[:n])...)
		r.last, outcomes = outcomes[n-1].ID, outcomes[n:]
	}
}

// toBandit converts outcomes for a learner.
func toBandit(outcomes []store.Outcome) []bandit.Outcome {
	out := make([]bandit.Outcome, len(outcomes))
	for i, o := range outcomes {
		d := banditDiagnosis(o.Repo, o.Pattern, o.Confidence)
		out[i] = bandit.Outcome{
			Org: d.Org, Repo: d.Repo, Pattern: d.Pattern, Technique: string(o.Technique), Resolved: o.Resolved,
			Attempt: o.Attempt, Z: o.Z, Imported: bandit.Tally(o.Imported), Confidence: d.Confidence,
		}
	}
	return out
}

// Observe records the results of the task's interventions so far, settles the decisions that led to them, and updates
// the learner. It is idempotent.
//
// Package sia defines what an outcome is: an attempt that was canceled, or that infrastructure ended, has none, nor has
// a failure that may be taken back; one that ran out of its own time failed.
func (ch *Chooser) Observe(ctx context.Context, t sia.Task) error {
	decisions, err := ch.store.Decisions(ctx, t.ID)
	if err != nil {
		return err
	}
	// Read after the decisions, the task contains each of them.
	if t, err = ch.store.Task(ctx, t.ID); err != nil {
		return err
	}
	t = t.Judged()
	for i, iv := range t.Interventions {
		if iv.Resolved == nil {
			continue
		}
		at := slices.IndexFunc(decisions, func(d sia.Decision) bool {
			return d.ID == iv.Diagnosis.DecisionID && d.Type == sia.DecideTechnique
		})
		var d sia.Decision
		if at >= 0 {
			d = decisions[at]
		}
		if d.Outcome == outcomeResolved || d.Outcome == outcomeFailed {
			continue // recorded before it was settled
		}
		if err := ch.record(ctx, t, i, d); err != nil {
			return err
		}
	}
	for _, d := range decisions {
		if d.Type != sia.DecideTechnique || d.Outcome != "" || isPending(t, d) {
			continue
		}
		if err := ch.store.SettleDecision(ctx, d.ID, outcomeUntried, 0); err != nil {
			return err
		}
	}
	return ch.catchUp(ctx)
}

// isPending reports whether a decision's outcome is still open.
func isPending(t sia.Task, d sia.Decision) bool {
	made := func(iv sia.Intervention) bool { return iv.Diagnosis.DecisionID == d.ID }
	return slices.ContainsFunc(t.Interventions, made) || t.Next != nil && made(*t.Next) || t.Pending[d.ID] != ""
}

// record stores the outcome of the task's i-th intervention, which resulted from d; d is zero if none was logged.
func (ch *Chooser) record(ctx context.Context, t sia.Task, i int, d sia.Decision) error {
	iv := t.Interventions[i]
	o := store.Outcome{
		Task: t.ID, Intervention: iv.Number, Repo: t.Repo, Pattern: iv.Diagnosis.Pattern, Technique: iv.Diagnosis.Technique,
		Resolved: *iv.Resolved, Attempt: i, Setup: ch.setup, Decision: d.ID, At: ch.now(),
	}
	outcome, expected := outcomeFailed, 0.0
	if o.Resolved {
		outcome = outcomeResolved
	}
	if d.ID != "" {
		var asked question
		var options []bandit.Option
		if err := errors.Join(json.Unmarshal(d.Context, &asked), json.Unmarshal(d.Options, &options)); err != nil {
			return fmt.Errorf("read decision %s: %w", d.ID, err)
		}
		o.Attempt, o.Confidence, o.Setup = asked.Attempt, asked.Confidence, asked.Setup
		for _, option := range options {
			expected += option.Propensity * option.Mean
			if option.Technique == d.Choice {
				o.Z, o.Imported = option.Z, store.ImportedTally(option.Imported)
			}
		}
	}
	if _, err := ch.store.RecordOutcome(ctx, o); err != nil {
		return err
	}
	if d.ID == "" {
		return nil
	}
	y := 0.0
	if o.Resolved {
		y = 1
	}
	return ch.store.SettleDecision(ctx, d.ID, outcome, y-expected)
}

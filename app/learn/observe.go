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
	cameResolved = "resolved"     // the attempt's checks were green
	cameFailed   = "not resolved" // they were red, or it ran out of its own time
	cameUntried  = "not tried"    // the reviewer refused it, or the task went another way
	// who made an attempt is not judged by it: it was not judged itself, or the task was solved before it began
	cameUncounted = "not counted"
)

// changed is what counts are multiplied by when outcomes begin to come from
// other models or prompts (docs/learning.md#the-choice).
const changed = 0.25

// replay is how far the learner has read the outcomes.
type replay struct {
	mu     sync.Mutex
	last   int64           // id of the newest outcome that was read
	setups map[string]bool // that were met
}

// catchUp tells the learner the outcomes that were recorded since it was last
// told, by this process or another, and reads what was imported meanwhile. What it knows is a function of the recorded
// outcomes in their order, so that every replica decides alike, and decides the
// same after a restart.
//
// The first outcome under models and prompts that were not met before discounts
// what the others taught. Going back to earlier ones, as replicas do while a new
// version is rolled out, discounts nothing again.
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

// learn tells a learner the next outcomes.
func (r *replay) learn(l Learner, outcomes []store.Outcome) {
	for len(outcomes) > 0 {
		setup := outcomes[0].Setup
		n := slices.IndexFunc(outcomes, func(o store.Outcome) bool { return o.Setup != setup })
		if n < 0 {
			n = len(outcomes)
		}
		if r.setups == nil {
			r.setups = map[string]bool{setup: true}
		}
		if !r.setups[setup] {
			l.Discount(changed)
			r.setups[setup] = true
		}
		l.Observe(learnable(outcomes[:n])...)
		r.last, outcomes = outcomes[n-1].ID, outcomes[n:]
	}
}

// learnable are outcomes as learners know them.
func learnable(outcomes []store.Outcome) []bandit.Outcome {
	out := make([]bandit.Outcome, len(outcomes))
	for i, o := range outcomes {
		d := diagnosed(o.Repo, o.Pattern, o.Confidence)
		out[i] = bandit.Outcome{
			Org: d.Org, Repo: d.Repo, Pattern: d.Pattern, Technique: string(o.Technique), Resolved: o.Resolved,
			Attempt: o.Attempt, Z: o.Z, Imported: bandit.Tally(o.Imported), Confidence: d.Confidence,
		}
	}
	return out
}

// Observe records the result of the task's interventions, as far as it is known,
// settles the decisions that led to them, and lets the learner know. Doing it
// again changes nothing.
//
// sia.Step says what an outcome is: an attempt that was cancelled, or that the
// machinery ended, has none; one that ran out of its own time failed.
func (ch *Chooser) Observe(ctx context.Context, t sia.Task) error {
	decisions, err := ch.store.Decisions(ctx, t.ID)
	if err != nil {
		return err
	}
	// Newer than the decisions, the task knows each of them.
	if t, err = ch.store.Task(ctx, t.ID); err != nil {
		return err
	}
	for i, iv := range t.Interventions {
		if iv.Resolved == nil {
			continue
		}
		at := slices.IndexFunc(decisions, func(d sia.Decision) bool { return d.ID == iv.Diagnosis.DecisionID })
		var d sia.Decision
		if at >= 0 {
			d = decisions[at]
		}
		if d.Outcome == cameResolved || d.Outcome == cameFailed {
			continue // it was recorded before it was settled
		}
		if err := ch.record(ctx, t, i, d); err != nil {
			return err
		}
	}
	for _, d := range decisions {
		if d.Type != sia.DecideTechnique || d.Outcome != "" || awaited(t, d) {
			continue
		}
		if err := ch.store.SettleDecision(ctx, d.ID, cameUntried, 0); err != nil {
			return err
		}
	}
	return ch.catchUp(ctx)
}

// awaited reports whether a decision's outcome is still open.
func awaited(t sia.Task, d sia.Decision) bool {
	made := func(iv sia.Intervention) bool { return iv.Diagnosis.DecisionID == d.ID }
	return slices.ContainsFunc(t.Interventions, made) || t.Next != nil && made(*t.Next) || t.Pending[d.ID] != ""
}

// record writes the outcome of the task's i-th intervention, which d led to; the
// zero d when none was logged.
func (ch *Chooser) record(ctx context.Context, t sia.Task, i int, d sia.Decision) error {
	iv := t.Interventions[i]
	o := store.Outcome{
		Task: t.ID, Intervention: iv.Number, Repo: t.Repo, Pattern: iv.Diagnosis.Pattern, Technique: iv.Diagnosis.Technique,
		Resolved: *iv.Resolved, Attempt: i, Setup: ch.setup, Decision: d.ID, At: ch.now(),
	}
	came, expected := cameFailed, 0.0
	if o.Resolved {
		came = cameResolved
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
	return ch.store.SettleDecision(ctx, d.ID, came, y-expected)
}

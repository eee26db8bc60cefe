package learn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
)

// Observe records the results of a task and its attempts so far, and settles the decisions that led to them. It is
// idempotent.
func (d *Decider) Observe(ctx context.Context, t sia.Task) error {
	decisions, err := d.store.Decisions(ctx, t.ID)
	if err != nil {
		return err
	}
	if t, err = d.store.Task(ctx, t.ID); err != nil { // read after the decisions, the task contains each of them
		return err
	}
	t = t.Judged()
	coders, end := Results(t)
	if end != nil {
		if err := d.store.RecordTaskEnd(ctx, *end); err != nil {
			return err
		}
	}
	for _, o := range coders {
		o.Setup = setupOf(o, decisions)
		if err := d.store.RecordCoderOutcome(ctx, o); err != nil {
			return err
		}
	}
	return d.settle(ctx, t, decisions)
}

// setupOf returns the agent and first model that a coder was configured with when it was last chosen for an attempt, or
// could have been. It is "" if the log does not have that.
func setupOf(o store.CoderOutcome, decisions []sia.Decision) (setup string) {
	for _, d := range decisions {
		var by decisionInput
		if d.Type != sia.DecideAssign || json.Unmarshal(d.Context, &by) != nil || by.Request == nil {
			continue
		}
		if d.Attempt > o.Attempt || d.Attempt == o.Attempt && by.Part == "" { // about a later attempt
			continue
		}
		for _, c := range by.Request.Candidates {
			if c.Coder == o.Coder {
				setup = c.Agent
			}
		}
	}
	return setup
}

// Results returns the results of a task's attempts by coder, and the task's own if it has ended or waits for a user;
// otherwise nil.
func Results(t sia.Task) (coders []store.CoderOutcome, end *store.TaskEnd) {
	kind := string(policies.Read(t.Title, t.Body, t.Labels).Kind)
	var failed []string
	for _, a := range t.Attempts {
		solved := t.Solved(a) // not a second result of the same task, which would count against the coder that solved it
		for _, w := range coderResults(a) {
			if !solved {
				coders = append(coders, store.CoderOutcome{
					Task: t.ID, Attempt: a.Number, Repo: t.Repo.ID, Org: t.Repo.Owner, Kind: kind, Coder: w.coder,
					Agent: w.agent, Cost: w.cost, Resolved: w.resolved, Failed: slices.Clone(failed),
					Changed: newInstructions(t, a.Number), At: a.EndedAt,
				})
			}
			if !w.resolved {
				failed = append(failed, w.coder)
			}
		}
	}
	asked := t.State == sia.Escalated && t.Escalation.Kind == sia.AskIssue
	stopped := t.State == sia.Stopped && slices.ContainsFunc(t.Attempts, func(a sia.Attempt) bool {
		return a.Outcome == sia.AttemptFail
	})
	if t.State == sia.Passed || asked || stopped {
		helped := slices.ContainsFunc(t.Answers, func(a sia.Answer) bool { return a.Kind == sia.AskIssue })
		end = &store.TaskEnd{Task: t.ID, Repo: t.Repo.ID, Kind: kind, Passed: t.State == sia.Passed, Helped: helped}
	}
	return coders, end
}

// result is the result of a coder's work on an attempt.
type result struct {
	coder, agent string
	cost         sia.Credits
	resolved     bool
}

// coderResults returns the results of an attempt by coder, in the order in which the checks judged them. A joint result
// of several coders counts for none of them, except for an abandoned part that only one coder tried.
func coderResults(a sia.Attempt) (out []result) {
	for _, p := range a.RedRacers() {
		out = append(out, result{p.Coder, p.Agent, p.Cost, false})
	}
	if a.Outcome != sia.AttemptPass && a.Outcome != sia.AttemptFail || a.Coder == "" {
		return out
	}
	all := result{a.Coder, a.Agent, a.Cost, a.Outcome == sia.AttemptPass}
	if a.Structure == plan.Race {
		i := slices.IndexFunc(a.Parts, func(p sia.Part) bool { return p.Coder == a.Coder })
		if i >= 0 {
			all.agent, all.cost = cmp.Or(a.Parts[i].Agent, a.Agent), a.Parts[i].Cost
		}
		return append(out, all)
	}
	several := false
	for _, p := range a.Parts {
		mine := hasOneCoder(a, p)
		several = several || !mine || p.Run > 0 && cmp.Or(p.Coder, a.Coder) != a.Coder
		if mine && p.Agent != "" {
			all.agent = p.Agent
		}
	}
	if !several {
		return append(out, all)
	}
	for _, p := range a.Parts {
		if p.State == sia.PartGivenUp && hasOneCoder(a, p) {
			out = append(out, result{cmp.Or(p.Coder, a.Coder), p.Agent, p.Cost, false})
		}
	}
	return out
}

// hasOneCoder reports whether all runs of a part used the same coder.
func hasOneCoder(a sia.Attempt, p sia.Part) bool {
	who := cmp.Or(p.Coder, a.Coder)
	return !slices.ContainsFunc(p.Failed, func(f string) bool { return f != who })
}

// newInstructions reports whether an attempt's instructions differ from those of all earlier failed attempts.
func newInstructions(t sia.Task, number int) bool {
	i := slices.IndexFunc(t.Attempts, func(a sia.Attempt) bool { return a.Number == number })
	return !slices.ContainsFunc(t.Attempts[:i], func(a sia.Attempt) bool {
		return a.Outcome == sia.AttemptFail && a.PromptHash == t.Attempts[i].PromptHash
	})
}

// settle records the outcomes of decisions: those of the attempts that they led to.
func (d *Decider) settle(ctx context.Context, t sia.Task, decisions []sia.Decision) error {
	for _, dec := range decisions {
		if dec.Outcome != "" {
			continue
		}
		var expected float64
		var by decisionInput
		switch dec.Type {
		case sia.DecideAssign, sia.DecideDecompose, sia.DecideRecover, sia.DecideEscalate:
			if err := json.Unmarshal(dec.Context, &by); err != nil {
				return fmt.Errorf("read decision %s: %w", dec.ID, err)
			}
		default:
			continue
		}
		if dec.Type == sia.DecideAssign {
			var options []coder.Option
			if err := json.Unmarshal(dec.Options, &options); err != nil {
				return fmt.Errorf("read decision %s: %w", dec.ID, err)
			}
			for _, o := range options {
				expected += o.Propensity * o.Chance
			}
		} else {
			expected = float64(by.Alone.Passed+1) / float64(by.Alone.Tried+2)
		}
		outcome, y := decisionOutcome(t, dec, by.Part != "")
		if outcome == "" {
			continue
		}
		credit := 0.0
		if outcome == outcomeResolved || outcome == outcomeFailed {
			credit = y - expected
		}
		if err := d.store.SettleDecision(ctx, dec.ID, outcome, credit); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// decisionOutcome returns the outcome of a decision: that of the first judged attempt after it, or for the assignment
// of an attempt that of the attempt itself. It is "" while unknown, and outcomeUntried if it never will be known. A
// decision about a part, or about the checks of the same attempt, led to that attempt.
func decisionOutcome(t sia.Task, d sia.Decision, part bool) (outcome string, y float64) {
	if d.Type == sia.DecideAssign && d.Choice == sia.ChooseNobody {
		return outcomeUntried, 0
	}
	own := d.Type == sia.DecideAssign && !part
	same := part || d.Type == sia.DecideRecover && (d.Choice == sia.ChooseRerun || d.Choice == sia.ChooseNextRacer)
	for _, a := range t.Attempts {
		switch {
		case a.Number < d.Attempt || a.Number == d.Attempt && !same: // made before the decision
		case own && t.Solved(a): // as in [Results]
			return outcomeUncounted, 0
		case a.Outcome == sia.AttemptPass:
			return outcomeResolved, 1
		case a.Outcome == sia.AttemptFail:
			return outcomeFailed, 0
		case own && a.Outcome != "":
			return outcomeUncounted, 0
		case a.Outcome == sia.AttemptUnchanged:
			return outcomeUntried, 0
		}
	}
	if t.State.Final() {
		return outcomeUntried, 0
	}
	return "", 0
}

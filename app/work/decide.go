package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// The rules by which the decisions below are made; a number is raised when a
// rule changes, so that decisions made by different ones are told apart.
const (
	rerunPolicy     = "rerun/1"
	interruptPolicy = "interrupt/1"
)

// What can be chosen.
const (
	choseRerun     = "re-run"
	choseBlame     = "blame the attempt"
	choseInterrupt = "interrupt"
	choseGoOn      = "go on"
)

// decideRerun logs what was weighed about red checks of the head, and settles
// what was decided before when the checks that were run again have been judged.
func (w *Worker) decideRerun(ctx context.Context, t sia.Task, f sia.Effect, j sia.Judged) error {
	id := fmt.Sprintf("%s/%d/rerun-%s", t.ID, f.Attempt, j.SHA)
	if t.Gate.Doubted {
		return w.settleRerun(ctx, id, j.Verdict)
	}
	if j.Doubt == nil {
		return nil
	}
	choice := choseBlame
	if j.Doubt.Rerun {
		choice = choseRerun
	}
	return w.logDecision(ctx, t, sia.Decision{
		ID: id, Attempt: f.Attempt, Type: sia.DecideRerun, Policy: rerunPolicy, Choice: choice, Propensity: 1,
		Reason: fmt.Sprintf("a chance of %.2g that the attempt is right and the checks failed by accident; a re-run costs "+
			"%.2g of another attempt", j.Doubt.Chance, j.Doubt.Cost),
	}, j.Doubt, choseRerun, choseBlame)
}

// settleRerun notes whether a re-run turned the checks green, and by how much
// that was more than expected.
func (w *Worker) settleRerun(ctx context.Context, id string, v sia.GateVerdict) error {
	y := 0.0
	switch v {
	case sia.VerdictGreen, sia.VerdictTampered:
		y = 1
	case sia.VerdictRed:
	default:
		return nil // not known yet
	}
	d, err := w.Store.Decision(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil // another head was doubted
	}
	if err != nil {
		return err
	}
	var was sia.Doubt
	if err := json.Unmarshal(d.Context, &was); err != nil {
		return fmt.Errorf("read decision %s: %w", id, err)
	}
	return w.Store.SettleDecision(ctx, id, string(v), y-was.Chance)
}

// decideInterrupt logs that an attempt was interrupted, or left to go on so that
// it is learned what becomes of it, before that has any consequence.
func (w *Worker) decideInterrupt(ctx context.Context, t sia.Task, f sia.Effect, end sia.AttemptEnded) error {
	r := end.Risk
	if r == nil || !r.Interrupted && !r.Spared {
		return nil
	}
	spare := t.Settings.Agent.Spare
	d := sia.Decision{
		ID: f.Key + "/interrupt", Attempt: f.Attempt, Type: sia.DecideInterrupt, Policy: interruptPolicy,
		Choice: choseInterrupt, Propensity: 1 - spare, Reason: end.Reason,
	}
	if r.Spared {
		d.Choice, d.Propensity = choseGoOn, spare
		d.Reason = fmt.Sprintf("it should be interrupted (a chance of %.2g that it gets nowhere, above %.2g) and is one "+
			"of those that are not, to learn what becomes of them", r.Chance, r.Limit)
		d.Outcome, d.Credit = "got somewhere", -r.Chance
		if end.Diff.Files == 0 || end.End != sia.EndFinished {
			d.Outcome, d.Credit = "got nowhere", 1-r.Chance
		}
	}
	return w.logDecision(ctx, t, d, r, choseInterrupt, choseGoOn)
}

// logDecision fills in what every decision has and logs it.
func (w *Worker) logDecision(ctx context.Context, t sia.Task, d sia.Decision, by any, options ...string) error {
	var err error
	if d.Context, err = json.Marshal(by); err != nil {
		return fmt.Errorf("log decision %s: %w", d.ID, err)
	}
	if d.Options, err = json.Marshal(options); err != nil {
		return fmt.Errorf("log decision %s: %w", d.ID, err)
	}
	d.Task, d.Repo, d.At = t.ID, t.Repo.ID, w.Now()
	return w.Store.LogDecision(ctx, d)
}

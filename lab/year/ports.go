package year

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/trial"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/evolve"
	"github.com/sia-bot/sia/policies/mine"
	"github.com/sia-bot/sia/sia"
)

// Task implements trial.Tasks: a task is open until it ends.
func (w *world) Task(_ context.Context, id sia.TaskID) (sia.Task, error) {
	t, ok := w.tasks[id]
	if !ok {
		return t, fmt.Errorf("task %s: %w", id, store.ErrNotFound)
	}
	if w.now.Before(t.Since) {
		t.State, t.Escalation = sia.Working, nil
	}
	return t, nil
}

// Policies implements trial.Settings.
func (w *world) Policies(context.Context, int64, sia.Repo) (*policies.Set, error) {
	set := policies.ShippedSet()
	for _, p := range w.own {
		set = set.With(policies.Owner, p)
	}
	return set, nil
}

// Settings implements trial.Settings.
func (w *world) Settings(context.Context, int64, sia.Repo) (sia.Settings, error) {
	s := sia.DefaultSettings()
	s.Policies.Autonomy = sia.AutonomyExperiment
	return s, nil
}

// Mined implements trial.Log: nothing stands out in this log.
func (w *world) Mined(context.Context, int64, policies.Type) ([]mine.Decision, error) {
	return nil, nil
}

// Record implements trial.Log.
func (w *world) Record(_ context.Context, _, _ int64, _ string, after time.Time) (store.PolicyRecord, error) {
	r := store.PolicyRecord{Since: w.now.Add(-365 * day)}
	for _, d := range w.ended {
		if d.at.After(after) && d.at.Before(w.now) {
			r.Ended++
			if d.resolved {
				r.Passed++
			}
		}
	}
	return r, nil
}

// Duels implements trial.Log: too few decisions were random.
func (w *world) Duels(context.Context, int64, policies.Policy, policies.Policy) (won, lost int, err error) {
	return w.dice.IntN(3), w.dice.IntN(3), nil
}

// Name implements trial.Author.
func (w *world) Name() string { return "a scripted author" }

// Propose implements trial.Author: it moves a number of the policy, within its range.
func (w *world) Propose(
	_ context.Context, m trial.Material, check func(policies.Mutation) error,
) ([]policies.Mutation, error) {
	var numbers []policies.Change
	for _, f := range m.Policy.Fields() {
		if _, err := strconv.ParseFloat(f.New, 64); err == nil && f.Path != "version" {
			numbers = append(numbers, f)
		}
	}
	for range 100 {
		f := numbers[w.dice.IntN(len(numbers))]
		was, err := strconv.ParseFloat(f.New, 64)
		if err != nil {
			return nil, err
		}
		c := policies.Mutation{Path: f.Path, Value: fmt.Sprintf("%.3g", was*(.7+.6*w.dice.Float64())), Reason: "it may help"}
		if check(c) != nil {
			continue
		}
		candidate, err := policies.Mutate(m.Policy, c)
		if err != nil {
			return nil, err
		}
		w.draw(m.Policy.ID(), candidate.ID())
		return []policies.Mutation{c}, nil
	}
	return nil, nil
}

// draw draws the true effect of a change.
func (w *world) draw(present, candidate string) {
	effect := 0.0
	switch luck := w.dice.Float64(); {
	case luck < w.Good:
		effect = .03 + .05*w.dice.Float64()
	case luck < w.Good+w.Harmful:
		effect = -.05 - .15*w.dice.Float64()
	}
	w.truth[candidate], w.effect[candidate] = effect, w.effect[present]+effect
}

// forge is an owner's repository. Its people approve and merge on request.
type forge struct {
	w       *world
	next    int
	closed  map[int]bool
	inForce map[string]bool // versions that were merged and not reverted
	sources map[string]string
}

func newForge(w *world) forge {
	return forge{w: w, closed: map[int]bool{}, inForce: map[string]bool{}, sources: map[string]string{}}
}

// Open implements trial.Forge.
func (f *forge) Open(_ context.Context, x store.Experiment, source string) (trial.OpenedPull, error) {
	f.sources[x.Candidate] = source
	f.next++
	return trial.OpenedPull{Number: f.next, URL: fmt.Sprint("pull request ", f.next)}, nil
}

// Look implements trial.Forge.
func (f *forge) Look(_ context.Context, x store.Experiment) (trial.PullState, error) {
	return trial.PullState{Open: !f.closed[x.Pull], ApprovedBy: "ann"}, nil
}

// UpsertComment implements trial.Forge.
func (f *forge) UpsertComment(_ context.Context, x store.Experiment, _ evolve.Standing) (int64, error) {
	return int64(x.Pull), nil
}

// Merge implements trial.Forge.
func (f *forge) Merge(_ context.Context, x store.Experiment) (merged bool, why string, err error) {
	p, err := policies.Parse(x.File, []byte(f.sources[x.Candidate]))
	if err != nil {
		return false, "", err
	}
	f.w.own[x.Decision] = p
	f.inForce[x.Candidate] = true
	if f.w.truth[x.Candidate] > 0 && f.w.dice.Float64() < f.w.TurnsBad {
		f.w.spoilt[x.Candidate] = f.w.now.Add(time.Duration(1+f.w.dice.IntN(40)) * day)
	}
	return true, "", nil
}

// Close implements trial.Forge.
func (f *forge) Close(_ context.Context, x store.Experiment) error {
	f.closed[x.Pull] = true
	return nil
}

// Revert implements trial.Forge.
func (f *forge) Revert(_ context.Context, x store.Experiment, source string) (url string, merged bool, err error) {
	delete(f.inForce, x.Candidate)
	delete(f.w.own, x.Decision)
	if source != "" {
		f.w.own[x.Decision], err = policies.Parse(x.File, []byte(source))
	}
	return "a pull request", true, err
}

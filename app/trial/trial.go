package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/evolve"
	"github.com/sia-bot/sia/sia"
)

// For is the policy by which a task is decided about. It is the one in force, unless another
// version stands in for that ([store.PolicyHold]), or the task takes part in an experiment and the
// lot gave it to the candidate.
//
// A task takes part when it was created after the experiment began, and is about to be decided about
// for the first time by one of the two versions: up to there nothing depends on the lot. From then
// on it stays with its version for as long as the experiment runs.
func (e *Evolver) For(
	ctx context.Context, t sia.Task, typ policies.Type, set *policies.Set, c policies.Context,
) (policies.Policy, error) {
	set, err := e.held(ctx, t, typ, set)
	if err != nil {
		return policies.Policy{}, err
	}
	p := set.For(typ, c)
	open, err := e.Store.OpenExperiments(ctx, t.Installation, string(typ))
	if err != nil {
		return p, err
	}
	for _, x := range open {
		if x.Alone && x.Place.ID != t.Repo.ID || !t.CreatedAt.After(x.StartedAt) {
			continue
		}
		switch {
		case x.Phase != store.ExperimentPromoted:
			p, err = e.drawn(ctx, t, x, set, c, p)
		case p.ID() == x.Candidate && t.CreatedAt.After(x.PromotedAt):
			p, err = e.watched(ctx, t, x, p)
		}
		if err != nil {
			return p, fmt.Errorf("experiment %s: %w", x.ID, err)
		}
	}
	return p, nil
}

// drawn is the policy by which a task is decided about that an experiment may be about; p is the
// one without it.
func (e *Evolver) drawn(
	ctx context.Context, t sia.Task, x store.Experiment, set *policies.Set, c policies.Context, p policies.Policy,
) (policies.Policy, error) {
	candidate, err := e.version(ctx, x.Candidate, policies.Layer(x.Layer))
	if err != nil {
		return p, err
	}
	changed := set.Instead(x.Present, policies.Layer(x.Layer), candidate).For(candidate.Decision, c)
	if p.ID() != x.Present && changed.ID() != x.Candidate {
		return p, nil // it is about neither
	}
	stands, _, known, err := e.Store.Enrolled(ctx, x.ID, t.ID)
	if err == nil && !known {
		stands, err = e.Store.Enrol(ctx, x.ID, store.ExperimentTask{ID: t.ID, Task: evolve.Task{At: e.Now(),
			Candidate: evolve.Assign(x.ID, string(t.ID))}})
	}
	if err != nil || !stands.Candidate {
		return p, err
	}
	return changed, nil
}

// watched is the policy that decides about a task after a change was promoted. That is p, but a
// few tasks are still left to the version before it, to tell what a fall is due to.
func (e *Evolver) watched(
	ctx context.Context, t sia.Task, x store.Experiment, p policies.Policy,
) (policies.Policy, error) {
	stands, since, known, err := e.Store.Enrolled(ctx, x.ID, t.ID)
	if err == nil && !known {
		stands, err = e.Store.Enrol(ctx, x.ID, store.ExperimentTask{ID: t.ID, Task: evolve.Task{After: true, At: e.Now(),
			Candidate: !evolve.HeldBack(x.ID, string(t.ID), since)}})
	}
	if err != nil || stands.Candidate || !stands.After {
		return p, err
	}
	return e.version(ctx, x.Present, p.Layer)
}

// held is the set in which other versions stand in for those that are held back.
func (e *Evolver) held(
	ctx context.Context, t sia.Task, typ policies.Type, set *policies.Set,
) (*policies.Set, error) {
	holds, err := e.Store.PolicyHolds(ctx, t.Installation)
	if err != nil {
		return set, err
	}
	for _, h := range holds {
		if h.Bad == "" || h.Decision != string(typ) {
			continue
		}
		all := set.All()
		i := slices.IndexFunc(all, func(p policies.Policy) bool { return p.ID() == h.Bad })
		if i < 0 {
			continue // it is not in force any more
		}
		instead, err := e.version(ctx, h.Instead, all[i].Layer)
		if errors.Is(err, store.ErrNotFound) {
			e.Logger.WarnContext(ctx, "a policy that is held back decides, for the one before it was not kept", "policy", h.Bad)
			continue
		}
		if err != nil {
			return set, err
		}
		set = set.Instead(h.Bad, all[i].Layer, instead)
	}
	return set, nil
}

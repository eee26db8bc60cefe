package trial

import (
	"context"
	"fmt"
	"slices"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/evolve"
	"github.com/sia-bot/sia/sia"
)

// For returns the policy for a decision about a task: the one in force, unless another version replaces it
// ([store.PolicyHold]), or the task takes part in an experiment and was assigned to the candidate.
//
// A task takes part if it was created after the experiment began, and the decision is the first one by one of the two
// versions: until then nothing depends on the assignment. It keeps its version as long as the experiment runs.
func (e *Evolver) For(
	ctx context.Context, t sia.Task, typ policies.Type, set *policies.Set, c policies.Context,
) (policies.Policy, error) {
	set, err := e.applyHolds(ctx, t, typ, set)
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
			p, err = e.experimentPolicy(ctx, t, x, set, c, p)
		case p.ID() == x.Candidate && t.CreatedAt.After(x.PromotedAt):
			p, err = e.guardedPolicy(ctx, t, x, p)
		}
		if err != nil {
			return p, fmt.Errorf("experiment %s: %w", x.ID, err)
		}
	}
	return p, nil
}

// experimentPolicy returns the policy for a task that may take part in an experiment; p is the policy without the
// experiment.
func (e *Evolver) experimentPolicy(
	ctx context.Context, t sia.Task, x store.Experiment, set *policies.Set, c policies.Context, p policies.Policy,
) (policies.Policy, error) {
	candidate, err := e.version(ctx, x.Candidate, policies.Layer(x.Layer))
	if isUnusable(err) { // the next round ends the experiment
		e.Logger.WarnContext(ctx, "a policy on trial decides nothing", "experiment", x.ID, "policy", x.Candidate,
			"why", err)
		return p, nil
	}
	if err != nil {
		return p, err
	}
	changed := set.Instead(x.Present, policies.Layer(x.Layer), candidate).For(candidate.Decision, c)
	if p.ID() != x.Present && changed.ID() != x.Candidate {
		return p, nil // not affected by the experiment
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

// guardedPolicy returns the policy for a task after a change was promoted. It is p, except for a few tasks that still
// use the previous version, to find the cause of a drop.
func (e *Evolver) guardedPolicy(
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
	present, err := e.version(ctx, x.Present, p.Layer)
	if isUnusable(err) {
		e.Logger.WarnContext(ctx, "a policy decides nothing more", "experiment", x.ID, "policy", x.Present, "why", err)
		return p, nil
	}
	return present, err
}

// applyHolds returns the set with substitutes for suppressed versions.
func (e *Evolver) applyHolds(
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
			continue // no longer in force
		}
		instead, err := e.version(ctx, h.Instead, all[i].Layer)
		if isUnusable(err) {
			e.Logger.WarnContext(ctx, "a policy that is held back decides, for the one before it can't", "policy", h.Bad,
				"why", err)
			continue
		}
		if err != nil {
			return set, err
		}
		set = set.Instead(h.Bad, all[i].Layer, instead)
	}
	return set, nil
}

package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
)

// Propose proposes a change, on behalf of a user, of the named policy in force in a repository. The change takes the
// usual course, and is saved even if the gate rejects it. by is the user.
func (e *Evolver) Propose(
	ctx context.Context, installation int64, repo sia.Repo, name string, c policies.Mutation, by string,
) (x store.Experiment, err error) {
	s, err := e.findPolicy(ctx, installation, repo, name)
	if err != nil {
		return x, err
	}
	why, err := e.changeBlocker(ctx, s)
	if err != nil {
		return x, err
	}
	if why != "" {
		return x, fmt.Errorf("policy %s can't be changed now: %s", name, why)
	}
	if x, err = e.draft(ctx, s, c, by); err != nil || !x.Phase.Open() {
		return x, err
	}
	if err := e.lockAndAdvance(ctx, x); err != nil {
		return x, err
	}
	return e.Find(ctx, x.ID)
}

// findPolicy returns the policy with a name that is in force in a repository, from the highest layer.
func (e *Evolver) findPolicy(ctx context.Context, installation int64, repo sia.Repo, name string) (subject, error) {
	set, err := e.Settings.Policies(ctx, installation, repo)
	if err != nil {
		return subject{}, err
	}
	p, found := set.Find(name)
	if !found {
		return subject{}, fmt.Errorf("no policy %q holds in %s; `sia policies list --repo %s` shows those that do",
			name, repo, repo)
	}
	return e.subjectOf(ctx, installation, repo, p)
}

// Find returns the experiment with an id; the error wraps [store.ErrNotFound] if there is none.
func (e *Evolver) Find(ctx context.Context, id string) (store.Experiment, error) {
	all, err := e.Store.Experiments(ctx, 0, false)
	if err != nil {
		return store.Experiment{}, err
	}
	i := slices.IndexFunc(all, func(x store.Experiment) bool { return x.ID == id })
	if i < 0 {
		return store.Experiment{}, fmt.Errorf("experiment %q: %w; `sia policies explain` lists them", id, store.ErrNotFound)
	}
	return all[i], nil
}

// Promote brings a change into force at a user's request, regardless of the experiment.
func (e *Evolver) Promote(ctx context.Context, id, by string) (store.Experiment, error) {
	e.moving.Lock()
	defer e.moving.Unlock()
	x, err := e.Find(ctx, id)
	if err != nil {
		return x, err
	}
	switch x.Phase {
	case store.ExperimentDrafted:
		return x, fmt.Errorf("experiment %s has no pull request yet; `sia policies evolve` opens it", id)
	case store.ExperimentProposed, store.ExperimentRunning, store.ExperimentBetter:
	default:
		return x, fmt.Errorf("experiment %s is %s: %s", id, x.Phase, x.Why)
	}
	merged, why, err := e.Forge.Merge(ctx, x)
	switch {
	case err != nil:
		return x, err
	case !merged:
		return x, fmt.Errorf("pull request %s can't be merged: %s", x.PullURL, why)
	}
	return e.recordPromotion(ctx, x, by+" promoted it")
}

// rollbackTries is the number of times that a rollback is tried if something else changes the experiment meanwhile.
const rollbackTries = 3

// Rollback restores the version before a promoted change at a user's request.
func (e *Evolver) Rollback(ctx context.Context, id, by string) (x store.Experiment, err error) {
	e.moving.Lock()
	defer e.moving.Unlock()
	for range rollbackTries {
		if x, err = e.takeBack(ctx, id, by); !errors.Is(err, store.ErrStale) {
			break
		}
	}
	return x, err
}

func (e *Evolver) takeBack(ctx context.Context, id, by string) (store.Experiment, error) {
	x, err := e.Find(ctx, id)
	if err != nil {
		return x, err
	}
	switch x.Phase {
	case store.ExperimentPromoted, store.ExperimentKept:
		later, err := e.laterChange(ctx, x)
		if err != nil {
			return x, err
		}
		if later != "" { // rolling back would undo that as well
			return x, fmt.Errorf("experiment %s: the change %s builds on it; take that back first", id, later)
		}
		x.EndedAt = time.Time{}
		if x, err = e.rollBack(ctx, x, by, by+" took it back"); err != nil {
			return x, err
		}
	case store.ExperimentReverting: // the file is still to be restored
	case store.ExperimentDrafted, store.ExperimentProposed, store.ExperimentRunning, store.ExperimentBetter:
		return e.end(ctx, x, store.ExperimentStopped, by+" stopped it")
	default:
		return x, fmt.Errorf("experiment %s is %s: %s", id, x.Phase, x.Why)
	}
	return e.revert(ctx, x)
}

// laterChange returns the id of a later change of the same policy that is in force; "" if there is none.
func (e *Evolver) laterChange(ctx context.Context, x store.Experiment) (string, error) {
	all, err := e.Store.Experiments(ctx, x.Installation, false)
	if err != nil {
		return "", err
	}
	for _, later := range all {
		inForce := later.Phase == store.ExperimentPromoted || later.Phase == store.ExperimentKept
		if inForce && later.ID != x.ID && samePolicy(later, x) && later.PromotedAt.After(x.PromotedAt) {
			return later.ID, nil
		}
	}
	return "", nil
}

// errPast means that a time is in the past.
var errPast = errors.New("a policy is frozen until a time that is to come")

// Freeze prevents changes of a policy until a time. Running experiments continue, and a hold that substitutes another
// version stays.
func (e *Evolver) Freeze(
	ctx context.Context, installation int64, repo sia.Repo, name string, until time.Time, by, why string,
) (store.PolicyHold, error) {
	s, err := e.findPolicy(ctx, installation, repo, name)
	if err != nil {
		return store.PolicyHold{}, err
	}
	if !until.After(e.Now()) {
		return store.PolicyHold{}, fmt.Errorf("freeze %s until %s: %w", name, until.Format(time.DateOnly), errPast)
	}
	h := store.PolicyHold{Installation: installation, Place: s.place.ID, Decision: string(s.policy.Decision), Name: name,
		Until: until, Why: why, By: by, At: e.Now()}
	return h, e.hold(ctx, h)
}

// Unfreeze ends a freeze.
func (e *Evolver) Unfreeze(ctx context.Context, installation int64, repo sia.Repo, name, by string) error {
	s, err := e.findPolicy(ctx, installation, repo, name)
	if err != nil {
		return err
	}
	return e.hold(ctx, store.PolicyHold{Installation: installation, Place: s.place.ID, Decision: string(s.policy.Decision),
		Name: name, Until: e.Now(), Why: "not frozen any more", By: by, At: e.Now()})
}

// hold saves a hold together with the substitute version of the present hold, if any.
func (e *Evolver) hold(ctx context.Context, h store.PolicyHold) error {
	was, err := e.currentHold(ctx, h)
	if err != nil {
		return err
	}
	h.Bad, h.Instead = was.Bad, was.Instead
	return e.Store.HoldPolicy(ctx, h)
}

// currentHold returns the present hold of the policy that h concerns; zero if there is none.
func (e *Evolver) currentHold(ctx context.Context, h store.PolicyHold) (store.PolicyHold, error) {
	holds, err := e.Store.PolicyHolds(ctx, h.Installation)
	if err != nil {
		return store.PolicyHold{}, err
	}
	for _, was := range holds {
		if was.Place == h.Place && was.Decision == h.Decision && was.Name == h.Name {
			return was, nil
		}
	}
	return store.PolicyHold{}, nil
}

package trial

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/evolve"
	"github.com/sia-bot/sia/policies/mine"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/invalid"
)

// Tasks reads tasks. [store.Store] implements it. The error wraps [store.ErrNotFound] if a task was deleted.
type Tasks interface {
	Task(ctx context.Context, id sia.TaskID) (sia.Task, error)
}

// Settings reads the settings of repositories.
type Settings interface {
	// Policies returns the policies that may be in force in a repository, as last read.
	Policies(ctx context.Context, installation int64, repo sia.Repo) (*policies.Set, error)
	// Settings returns the settings in force in a repository.
	Settings(ctx context.Context, installation int64, repo sia.Repo) (sia.Settings, error)
}

// PullState is the state of a pull request.
type PullState struct {
	Open, Merged bool
	ApprovedBy   string // login of a permitted user who put a 👍 on SIA's comment; empty: none
}

// OpenedPull is an opened pull request.
type OpenedPull struct {
	Number int
	URL    string
	Head   string // commit
}

// ErrMoved means that somebody changed a policy's file meanwhile. Such changes are not overwritten.
var ErrMoved = errors.New("somebody has changed the policy's file since")

// Forge hosts policies, like GitHub. All methods are idempotent.
type Forge interface {
	// Open opens the pull request that gives the policy's file its new content. The error wraps [ErrMoved] if the file
	// differs from the present version.
	Open(ctx context.Context, x store.Experiment, source string) (OpenedPull, error)
	// Look returns the state of that pull request.
	Look(ctx context.Context, x store.Experiment) (PullState, error)
	// UpsertComment updates SIA's only comment there with the experiment's standing; id identifies it.
	UpsertComment(ctx context.Context, x store.Experiment, now evolve.Standing) (id int64, err error)
	// Merge merges it. If merged is false, why is the reason.
	Merge(ctx context.Context, x store.Experiment) (merged bool, why string, err error)
	// Close closes it without merging.
	Close(ctx context.Context, x store.Experiment) error
	// Revert restores the file's previous content with a pull request that is merged if possible; an empty source removes
	// the file. merged is also true if the file is restored already; url is empty if no pull request of SIA's did that.
	// The error wraps [ErrMoved] if the file has neither content.
	Revert(ctx context.Context, x store.Experiment, source string) (url string, merged bool, err error)
}

// Author proposes changes of a policy. The implementation uses a model.
type Author interface {
	// Propose proposes at most two changes. check returns what is wrong with a change, so that the author can correct it.
	Propose(ctx context.Context, m Material, check func(policies.Mutation) error) ([]policies.Mutation, error)
	// Name is the author's name, for users.
	Name() string
}

// Log is the log of decisions.
type Log interface {
	// Mined returns the decisions of a type in an installation that have a result.
	Mined(ctx context.Context, installation int64, typ policies.Type) ([]mine.Decision, error)
	// Record counts the results of the tasks of a repository, 0: of an installation, that a policy version decided about
	// after a time.
	Record(ctx context.Context, installation, repo int64, policy string, after time.Time) (store.PolicyRecord, error)
	// Duels counts tasks about which two policy versions differ: those in favor of the candidate, and those in favor of
	// the present one. If the candidate were no better, each would be a fair coin toss.
	Duels(ctx context.Context, installation int64, present, candidate policies.Policy) (won, lost int, err error)
}

// Deps are the dependencies of an evolver.
type Deps struct {
	Store    Store
	Tasks    Tasks
	Settings Settings
	Forge    Forge
	Author   Author // nil: only users propose changes
	Log      Log
	// Replayed counts replayed tasks of a repository, owner/name, that only one of two policies, given by id, resolved;
	// nil: there are none.
	Replayed func(repo, present, candidate string) (won, lost int, err error)
	Logger   *slog.Logger
	Now      func() time.Time
}

// Evolver tests changes of policies. It is safe for concurrent use: changes are advanced one at a time. Another process
// may work beside it: what that one has changed is not overwritten.
type Evolver struct {
	Deps
	moving sync.Mutex

	reading  sync.Mutex
	versions map[string]policies.Policy // by id; a version never changes
}

// maxCachedVersions limits the cache of versions.
const maxCachedVersions = 200

// New returns an evolver. All of Deps except Author and Replayed are required.
func New(d Deps) (*Evolver, error) {
	if d.Store == nil || d.Tasks == nil || d.Settings == nil || d.Forge == nil || d.Log == nil ||
		d.Logger == nil || d.Now == nil {
		return nil, errors.New("an evolver needs a store, tasks, settings, a forge, a log, a logger and a clock")
	}
	return &Evolver{Deps: d}, nil
}

// Evolve advances every change, and proposes new ones if there is room for improvement. Each day it begins with another
// installation.
func (e *Evolver) Evolve(ctx context.Context) error {
	err := e.Watch(ctx)
	installations, listed := e.Store.Installations(ctx)
	if listed != nil {
		return errors.Join(err, listed)
	}
	installations = slices.DeleteFunc(installations, func(in store.Installation) bool { return in.Suspended })
	first := e.today() % max(1, len(installations)) // the model may be too slow for all
	var ask askTime
	for _, in := range slices.Concat(installations[first:], installations[:first]) {
		if e.Author != nil && !ask.isLeft(ctx) {
			e.Logger.InfoContext(ctx, "changes of policies are proposed for the rest on other days", "from", in.Account)
			break
		}
		if perr := e.proposeIn(ctx, in, &ask); perr != nil {
			err = errors.Join(err, fmt.Errorf("propose changes of policies for %s: %w", in.Account, perr))
		}
	}
	return err
}

// askTime is how long a question to the author takes: its time limit, until one was answered.
type askTime struct{ slowest time.Duration }

// isLeft reports whether there is time for another question. Twice the time of the slowest answer is enough.
func (a *askTime) isLeft(ctx context.Context) bool {
	need := authorTimeout
	if a.slowest > 0 {
		need = min(need, 2*a.slowest)
	}
	deadline, limited := ctx.Deadline()
	return ctx.Err() == nil && (!limited || time.Until(deadline) >= need)
}

// took records a question that began at a time.
func (a *askTime) took(since time.Time) { a.slowest = max(a.slowest, time.Since(since)) }

// today returns the number of the present day.
func (e *Evolver) today() int { return int(e.Now().Unix() / (24 * 60 * 60)) }

// Watch advances every change, as far as the results of tasks and actions of users allow.
func (e *Evolver) Watch(ctx context.Context) error {
	e.moving.Lock()
	defer e.moving.Unlock()
	open, err := e.Store.Experiments(ctx, 0, true)
	if err != nil {
		return err
	}
	installations, err := e.Store.Installations(ctx)
	if err != nil {
		return err
	}
	var all []error
	for _, x := range open {
		i := slices.IndexFunc(installations, func(in store.Installation) bool { return in.ID == x.Installation })
		if i >= 0 && installations[i].Suspended {
			continue // GitHub allows no access until it is resumed
		}
		if err := e.watch(ctx, x, i >= 0); err != nil {
			all = append(all, fmt.Errorf("experiment %s: %w", x.ID, err))
		}
	}
	return errors.Join(all...)
}

// watch advances one change, or ends it if the app is no longer installed.
func (e *Evolver) watch(ctx context.Context, x store.Experiment, installed bool) error {
	if !installed {
		_, err := e.setPhase(ctx, x, store.ExperimentStopped, "the app was uninstalled")
		return err
	}
	r, err := e.Store.Repository(ctx, x.Place.ID)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && r.Installation != x.Installation:
		_, err = e.setPhase(ctx, x, store.ExperimentStopped, "the app was removed from "+x.Place.String())
		return err
	case err != nil:
		return err
	}
	return e.advance(ctx, x)
}

// advance advances one change until it has to wait.
func (e *Evolver) advance(ctx context.Context, x store.Experiment) error {
	for {
		was := x.Phase
		var err error
		switch x.Phase {
		case store.ExperimentDrafted:
			x, err = e.open(ctx, x)
		case store.ExperimentProposed:
			x, err = e.awaitApproval(ctx, x)
		case store.ExperimentRunning:
			x, err = e.judge(ctx, x)
		case store.ExperimentBetter:
			x, err = e.merge(ctx, x)
		case store.ExperimentPromoted:
			x, err = e.checkGuardrails(ctx, x)
		case store.ExperimentReverting:
			x, err = e.revert(ctx, x)
		}
		switch {
		case errors.Is(err, store.ErrStale): // the next round reads what it is now
			return nil
		case err != nil || x.Phase == was || !x.Phase.Open():
			return err
		}
	}
}

// setPhase moves a change to a phase, for a reason, and saves it.
func (e *Evolver) setPhase(
	ctx context.Context, x store.Experiment, p store.ExperimentPhase, why string,
) (store.Experiment, error) {
	now, was := e.Now(), x.Phase
	x.Phase, x.Why = p, why
	switch {
	case p == store.ExperimentRunning:
		x.StartedAt = now
	case p == store.ExperimentPromoted && x.PromotedAt.IsZero():
		x.PromotedAt = now
	case !p.Open():
		x.EndedAt = now
	}
	if err := e.Store.SaveExperiment(ctx, was, x, why); err != nil {
		return x, err
	}
	e.Logger.InfoContext(ctx, "a change of a policy", "experiment", x.ID, "change", x.Change,
		"phase", string(p), "why", why)
	return x, nil
}

// version returns a stored version of a policy.
func (e *Evolver) version(ctx context.Context, id string, l policies.Layer) (policies.Policy, error) {
	e.reading.Lock()
	defer e.reading.Unlock()
	p, known := e.versions[id]
	if !known {
		source, err := e.Store.PolicyVersion(ctx, id)
		if err != nil {
			return p, err
		}
		if p, err = policies.Parse(id, []byte(source)); err != nil {
			return p, err
		}
		if e.versions == nil || len(e.versions) == maxCachedVersions {
			e.versions = map[string]policies.Policy{}
		}
		e.versions[id] = p
	}
	p.Layer = l
	return p, nil
}

// isUnusable reports whether a stored version of a policy can't decide any more: it was not kept, or is of an earlier
// SIA's form.
func isUnusable(err error) bool {
	var bad *invalid.File
	return errors.Is(err, store.ErrNotFound) || errors.As(err, &bad)
}

// updateComment updates the standing on the pull request, and stores the comment's id.
func (e *Evolver) updateComment(ctx context.Context, x store.Experiment) (store.Experiment, error) {
	rows, err := e.Store.ExperimentTasks(ctx, x.ID)
	if err != nil {
		return x, err
	}
	return e.updateCommentWith(ctx, x, rows)
}

func (e *Evolver) updateCommentWith(
	ctx context.Context, x store.Experiment, rows []store.ExperimentTask,
) (store.Experiment, error) {
	id, err := e.Forge.UpsertComment(ctx, x, computeStanding(x, rows))
	if err != nil || id == x.Comment {
		return x, err
	}
	x.Comment = id
	return x, e.Store.SaveExperiment(ctx, x.Phase, x, "")
}

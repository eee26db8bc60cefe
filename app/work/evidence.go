package work

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// evidence runs the tests affected by the head, in parallel with its checks. It never fails the task: if tests can't be
// run, the reason is recorded and the text of the change is judged instead.
func (w *attemptWorker) evidence(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	if f.SHA != t.Head {
		return sia.Done{}, nil // superseded by another head
	}
	e, err := w.look(ctx, t, f)
	switch {
	case err == nil:
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return nil, err // it was canceled, or continues after a restart
	case ctx.Err() == nil && w.Remote != nil && !store.LastTry(ctx):
		return nil, err // of the database: a runner's errors are results
	default:
		w.Logger.WarnContext(ctx, "tests of a head could not be run", "task", t.ID, "head", t.Head, "error", err)
		e = sia.TestEvidence{Head: t.Head, Base: t.BaseSHA, NotRun: "the tests could not be run: " + err.Error()}
	}
	return sia.Evidenced{Evidence: e}, nil
}

// look returns the evidence about the head, from a runner or from here.
func (w *attemptWorker) look(ctx context.Context, t sia.Task, f sia.Effect) (sia.TestEvidence, error) {
	if w.Remote != nil {
		return w.Remote.Look(ctx, t, f, string(t.Head))
	}
	return w.Evidence.Look(ctx, w.evidenceRequest(t, string(t.Head)))
}

// ratesRacers reports whether the tests affected by a racer's change are run before it is pushed.
func (w *attemptWorker) ratesRacers(ctx context.Context, t sia.Task) bool {
	if w.Remote != nil {
		return t.TestsBeforePush() && w.Remote.RunsTests(ctx)
	}
	return t.TestsBeforePush() && w.Evidence.Runs()
}

// tests returns functions that run the tests affected by a work tree's changes, and tests by name. They are nil if the
// repository disables this, for parts and racers, which have their own check, and for runners, which have functions of
// their own.
func (w *attemptWorker) tests(
	t sia.Task, r agentRun, space *gitops.Workspace,
) (affected func(context.Context) (agent.TestsRun, error), cover locate.Cover) {
	if r.part != nil || w.Remote != nil || !t.TestsBeforePush() || !w.Evidence.Runs() {
		return nil, nil
	}
	at, wanted := t.Attempt().StartedAt, w.evidenceRequest(t, "")
	return func(ctx context.Context) (agent.TestsRun, error) {
			return w.Evidence.OfTree(ctx, space, at, wanted)
		}, func(ctx context.Context, failing []locate.Test) ([]locate.Run, error) {
			return w.Evidence.CoverTree(ctx, space, at, wanted, failing)
		}
}

// rateTimeout limits the tests that compare racers, in addition to the repository's tests.
const rateTimeout = 4 * time.Minute

// rateRacer runs the tests that compare a racer's change with the others': those affected by it, and the reproduction
// of the fault if an earlier attempt wrote one and the racer did not change it. Tests that can't be run are ignored.
func (w *attemptWorker) rateRacer(ctx context.Context, t sia.Task, r agentRun, fact *sia.AttemptEnded) error {
	within, cancel := ctx, func() {}
	if w.Remote == nil { // else they may wait for a runner
		within, cancel = context.WithTimeout(ctx, rateTimeout)
	}
	defer cancel()
	got, err := w.affected(within, t, r.effect, string(fact.Commit))
	if err == nil {
		fact.Affected = &sia.AffectedTests{Ran: got.Ran, Failed: got.Failed}
		fact.Reproduced, err = w.runReproduction(within, t, r, string(fact.Commit))
	}
	if err != nil && ctx.Err() == nil {
		w.Logger.WarnContext(ctx, "tests of a racer could not be run", "task", t.ID, "run", r.effect.Run, "error", err)
		return nil
	}
	return err
}

// affected runs the tests that the changes of a commit can affect, on a runner or here.
func (w *attemptWorker) affected(
	ctx context.Context, t sia.Task, f sia.Effect, commit string,
) (agent.TestsRun, error) {
	if w.Remote != nil {
		return w.Remote.Affected(ctx, t, f, commit, rateTimeout)
	}
	return w.Evidence.Affected(ctx, w.evidenceRequest(t, commit))
}

// runReproduction runs the reproduction of the fault on a racer's commit. It returns nil if there is none, or if the
// racer changed it.
func (w *attemptWorker) runReproduction(
	ctx context.Context, t sia.Task, r agentRun, commit string,
) (*sia.CheckRun, error) {
	command, paths := t.Reproduction()
	if command == "" || r.start.commit == string(t.BaseSHA) {
		return nil, nil //nolint:nilnil // its tree has none
	}
	own, err := w.mirror(t).Diff(ctx, r.start.commit, commit)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(own.Files, func(f gitops.FileDiff) bool { return slices.Contains(paths, f.Path) }) {
		return nil, nil //nolint:nilnil // the racer could have made it pass
	}
	got, err := w.check(ctx, t, r.effect, commit, []string{command}, nil)
	if err != nil {
		return nil, err
	}
	return &got[0], nil
}

// evidenceRequest describes a commit's change against the task's base to the evidence package.
func (w *common) evidenceRequest(t sia.Task, head string) evidence.Wanted {
	return evidence.Wanted{
		Repository: github.KeyOf(t.Installation, t.Repo.ID), Base: string(t.BaseSHA), Head: head,
		Within: t.Settings.Checks.Evidence.D(), Services: t.Settings.Agent.Services,
		Open: w.mirror(t).OpenCommits, Begins: w.BeforeTests,
	}
}

// evidenceOf returns the test evidence of the present head; nil: none.
func evidenceOf(t sia.Task) *sia.TestEvidence {
	if e := t.Gate.Evidence; e != nil && e.Head == t.Head && e.Base == t.BaseSHA {
		return e
	}
	return nil
}

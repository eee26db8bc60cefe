package work

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// evidence runs the tests that the head can reach, beside its checks. It never fails the task: what can't be run is
// said, and the text of the change serves.
func (w *attemptWorker) evidence(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	if f.SHA != t.Head {
		return sia.Done{}, nil // another head is there by now
	}
	e, err := w.Evidence.Look(ctx, w.wanted(t, string(t.Head)))
	if err != nil && ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return nil, err // it was cancelled, or goes on after a restart
	}
	if err != nil {
		w.Logger.WarnContext(ctx, "tests of a head could not be run", "task", t.ID, "head", t.Head, "error", err)
		e = sia.TestEvidence{Head: t.Head, Base: t.BaseSHA, NotRun: "the tests could not be run: " + err.Error()}
	}
	return sia.Evidenced{Evidence: e}, nil
}

// looksAtTests reports whether the tests that a change reaches are run before it is pushed.
func (w *attemptWorker) looksAtTests(t sia.Task) bool {
	return t.TestsBeforePush() && w.Evidence.Runs()
}

// tests run those that a work tree's changes can reach, and tests by name. They are nil where the repository wants none
// to be run, and for parts and racers, which have a check of their own.
func (w *attemptWorker) tests(
	t sia.Task, r agentRun, space *gitops.Workspace,
) (affected func(context.Context) (agent.TestsRun, error), cover locate.Cover) {
	if r.part != nil || !w.looksAtTests(t) {
		return nil, nil
	}
	at, wanted := t.Attempt().StartedAt, w.wanted(t, "")
	return func(ctx context.Context) (agent.TestsRun, error) {
			return w.Evidence.OfTree(ctx, space, at, wanted)
		}, func(ctx context.Context, failing []locate.Test) ([]locate.Run, error) {
			return w.Evidence.CoverTree(ctx, space, at, wanted, failing)
		}
}

// rateWithin bounds what is run to tell a racer's change from the others', beside the repository's tests.
const rateWithin = 4 * time.Minute

// rate runs what tells a racer's change from the others': the tests that it reaches, and the test that shows the fault,
// where an earlier attempt wrote one and the racer left it as it is. What can't be run says nothing.
func (w *attemptWorker) rate(ctx context.Context, t sia.Task, r agentRun, fact *sia.AttemptEnded) error {
	within, cancel := context.WithTimeout(ctx, rateWithin)
	defer cancel()
	got, err := w.Evidence.Affected(within, w.wanted(t, string(fact.Commit)))
	if err == nil {
		fact.Affected = &sia.AffectedTests{Ran: got.Ran, Failed: got.Failed}
		fact.Reproduced, err = w.reproduced(within, t, r, string(fact.Commit))
	}
	if err != nil && ctx.Err() == nil {
		w.Logger.WarnContext(ctx, "tests of a racer could not be run", "task", t.ID, "run", r.effect.Run, "error", err)
		return nil
	}
	return err
}

// reproduced runs the test that shows the fault on a racer's commit; nil where there is none, or where the racer
// changed it.
func (w *attemptWorker) reproduced(ctx context.Context, t sia.Task, r agentRun, commit string) (*sia.CheckRun, error) {
	command, paths := t.Reproduction()
	if command == "" || r.begin.commit == string(t.BaseSHA) {
		return nil, nil //nolint:nilnil // there is none in its tree
	}
	own, err := w.mirror(t).Diff(ctx, r.begin.commit, commit)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(own.Files, func(f gitops.FileDiff) bool { return slices.Contains(paths, f.Path) }) {
		return nil, nil //nolint:nilnil // its word for itself
	}
	got, err := w.check(ctx, t, r.effect.Key+" reproduction", commit, []string{command}, nil)
	if err != nil {
		return nil, err
	}
	return &got[0], nil
}

// wanted is the change of a commit against the task's base.
func (w *common) wanted(t sia.Task, head string) evidence.Wanted {
	return evidence.Wanted{
		Repository: t.Repo.String(), Base: string(t.BaseSHA), Head: head, Within: t.Settings.Checks.Evidence.D(),
		Services: t.Settings.Agent.Services, Open: w.mirror(t).OpenCommits, Begins: w.Begins,
	}
}

// evidenceOf is what running the tests of the present head has shown; nil: nothing.
func evidenceOf(t sia.Task) *sia.TestEvidence {
	if e := t.Gate.Evidence; e != nil && e.Head == t.Head && e.Base == t.BaseSHA {
		return e
	}
	return nil
}

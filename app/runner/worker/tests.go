package worker

import (
	"context"
	"errors"
	"slices"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/app/runner"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// runTests runs the tests of a [runner.TestRun] and reports their result. If the repository is why they can't be run,
// that is the result, because another runner would find the same. Other errors are of this machine.
func (a *attempt) runTests(ctx context.Context, repo *gitops.Repo) error {
	work, o := a.offer.Work, runner.Outcome{Result: agent.Result{End: sia.EndFinished}}
	if len(work.Run.Commands) == 0 {
		if err := a.fetch(ctx, repo, work.Tests.Base, true); err != nil {
			return errors.Join(context.Cause(ctx), err)
		}
	}
	err := errors.New("this machine has no sandbox for tests") // a Pod, of which its runner could not know that
	if a.tests.Runs() {
		err = a.testRun(ctx, repo, &o)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && !isOfRepository(err) {
		return err
	}
	o.Failure = failure(err)
	return a.send(ctx, o.Clipped(), nil)
}

// isOfRepository reports whether tests can't be run because of the repository: its tree, what its commands leave, or
// the time that they take.
func isOfRepository(err error) bool {
	return slices.ContainsFunc([]error{gitops.ErrMissing, gitops.ErrTree, gitops.ErrTooLarge, sandbox.ErrDiscarded,
		context.DeadlineExceeded}, func(of error) bool { return errors.Is(err, of) })
}

// testRun runs the tests.
func (a *attempt) testRun(ctx context.Context, repo *gitops.Repo, o *runner.Outcome) (err error) {
	work := a.offer.Work
	if run := work.Run; len(run.Commands) > 0 {
		o.Checks, err = a.check(ctx, repo, *run)
		if slices.ContainsFunc(o.Checks, func(c sia.CheckRun) bool { return c.Missing == agent.SandboxFailed }) {
			err = errors.New("the sandbox could not run a command")
		}
		return err
	}
	wanted := a.wanted(repo, work.Start)
	if work.Run.Evidence {
		e, err := a.tests.Look(ctx, wanted)
		o.Evidence = &e
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, work.Input.Limits.Time)
	defer cancel()
	got, err := a.tests.Affected(ctx, wanted)
	o.Affected = &got
	return err
}

// check runs the commands of a run in a work tree of its own.
func (a *attempt) check(ctx context.Context, repo *gitops.Repo, run runner.TestRun) ([]sia.CheckRun, error) {
	commands, err := a.commands()
	if err != nil {
		return nil, err
	}
	space, err := repo.Workspace(ctx, "", a.offer.Work.Start)
	if err != nil {
		return nil, err
	}
	defer a.remove(ctx, space)
	in := a.offer.Work.Input
	in.Key, in.Dir = a.repository(), space.Dir()
	return commands.Check(ctx, in, run.Commands, run.Baseline)
}

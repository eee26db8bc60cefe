package work

import (
	"context"
	"errors"

	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// evidence runs the tests that the head can reach, beside its checks. It never fails the task: what can't be run is
// said, and the text of the change serves.
func (w *Worker) evidence(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	if f.SHA != t.Head {
		return sia.Done{}, nil // another head is there by now
	}
	mirror := w.mirror(t)
	e, err := w.Evidence.Look(ctx, evidence.Wanted{
		Repository: t.Repo.String(), Base: string(t.BaseSHA), Head: string(t.Head), Within: t.Settings.Checks.Evidence.D(),
		Open: func(ctx context.Context) (*gitops.History, error) {
			return mirror.OpenCommits(ctx, string(t.BaseSHA), string(t.Head))
		},
	})
	if err != nil && ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return nil, err // it was cancelled, or goes on after a restart
	}
	if err != nil {
		w.Logger.WarnContext(ctx, "tests of a head could not be run", "task", t.ID, "head", t.Head, "error", err)
		e = sia.TestEvidence{Head: t.Head, Base: t.BaseSHA, NotRun: "the tests could not be run: " + err.Error()}
	}
	return sia.Evidenced{Evidence: e}, nil
}

// evidenceOf is what running the tests of the present head has shown; nil: nothing.
func evidenceOf(t sia.Task) *sia.TestEvidence {
	if e := t.Gate.Evidence; e != nil && e.Head == t.Head && e.Base == t.BaseSHA {
		return e
	}
	return nil
}

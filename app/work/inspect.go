package work

import (
	"context"
	"errors"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// inspect records what a commit changes, and rejects it if it must not be pushed.
func (w *attemptWorker) inspect(ctx context.Context, t sia.Task, r agentRun, sha string, fact *sia.AttemptEnded) error {
	from := changedFrom(&t)
	diff, refused, err := w.judgePush(ctx, t, r, from, sha)
	if err != nil {
		return err
	}
	w.count(diff, fact)
	if refused != "" {
		failUnpushed(fact, refused)
	} else {
		fact.Commit = sia.SHA(sha)
		if err := w.keepCommits(ctx, t, from, sha); err != nil {
			return err
		}
	}
	return w.Store.SaveText(ctx, t.ID, t.Attempt().Number, runTextKind(textDiff, r.effect.Run), w.Secrets.Mask(diff.Patch))
}

// pushRefusal returns the function that reports to the agent why its work tree must not be pushed; see
// [agent.Input.PushRefusal]. [attemptWorker.inspect] judges the attempt's commit in the same way.
func (w *attemptWorker) pushRefusal(
	t sia.Task, r agentRun, space *gitops.Workspace,
) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, commitTimeout(sia.EndFinished))
		defer cancel()
		by := gitops.Signature{Name: "SIA", Email: "sia@localhost", When: t.Attempt().StartedAt}
		sha, err := space.Commit(ctx, gitops.CommitSpec{Message: "Before the push", Author: by, Committer: by,
			Parents: r.start.parents})
		switch {
		case errors.Is(err, gitops.ErrEmpty):
			return "", nil
		case errors.Is(err, gitops.ErrTree):
			return treeRefused(err.Error()), nil
		case err != nil:
			return "", err
		}
		t := t
		from := changedFrom(&t)
		_, refused, err := w.judgePush(ctx, t, r, from, sha)
		return refused, err
	}
}

// changedFrom returns the commit with which an attempt's commit is compared for the push. While a base is merged, it
// also sets t.BaseSHA: the branch will be based on that.
func changedFrom(t *sia.Task) string {
	from := string(t.StartsAt())
	if t.Merging != nil {
		t.BaseSHA, from = t.Merging.Onto, string(t.Merging.Onto)
	}
	return from
}

// judgePush returns what a commit changes, and why it must not be pushed, for agents and users; "": it may be pushed.
func (w *attemptWorker) judgePush(
	ctx context.Context, t sia.Task, r agentRun, from, sha string,
) (diff gitops.Diff, refused string, err error) {
	against := string(t.BaseSHA)
	if r.inPlan() {
		against = r.start.commit
		if len(r.start.parents) > 0 {
			against = r.start.parents[0]
		}
	}
	if diff, err = w.mirror(t).Diff(ctx, against, sha); err != nil {
		return diff, "", err
	}
	leaks, err := w.leaks(ctx, t, sha, diff)
	if err != nil {
		return diff, "", err
	}
	forbidden, err := w.branch.forbiddenWorkflows(ctx, t, from, sha)
	if err != nil {
		return diff, "", err
	}
	open, err := w.mirror(t).Unresolved(ctx, sha, r.start.open)
	switch {
	case err != nil:
		return diff, "", err
	case len(open) > 0:
		refused = render.ConflictsLeft(open)
	case len(leaks) > 0:
		refused = leakReason(leaks)
	case len(forbidden) > 0:
		refused = render.WorkflowsRefused(forbidden)
	}
	return diff, refused, nil
}

// treeRefused returns the reason why a work tree that can't be committed is not pushed.
func treeRefused(why string) string {
	return "nothing was pushed, since the work tree can't be committed: " + why
}

// failUnpushed marks an attempt as failed because nothing of it can be pushed.
func failUnpushed(fact *sia.AttemptEnded, why string) {
	fact.Reason = why
	if fact.End != sia.EndCancelled && fact.End != sia.EndError {
		fact.End = sia.EndFinished
	}
}

package work

import (
	"context"
	"errors"
	"fmt"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// push pushes the attempt's commit to the task's branch, if the branch is still where the attempt found it. The task's
// present head does not matter: commits that somebody else pushed meanwhile are not in the attempt's commit and must
// not be replaced.
func (w *branchWorker) push(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	start, err := w.attemptStart(ctx, t, f.Attempt)
	if err != nil {
		return nil, err
	}
	from := start
	switch {
	case t.Merging != nil:
		from = string(t.Merging.Onto)
	case start == "": // the branch does not exist yet
		from = string(t.BaseSHA)
	}
	expect := start
	if head := t.Attempts[f.Attempt-1].Head; f.Part > 0 && head != "" { // it replaces another racer's commit
		expect = string(head)
	}
	on, err := w.pushCommit(ctx, t, from, string(f.SHA), expect)
	if refused, ok := parseRefusal(err); ok {
		return refused, nil
	}
	var moved *gitops.LeaseError
	if errors.As(err, &moved) {
		return sia.PushRefused{Head: sia.SHA(moved.Head),
			Reason: fmt.Sprintf("somebody else pushed to `%s` meanwhile", t.Branch)}, nil
	}
	if isCommitLost(err, f.SHA) {
		return sia.PushRefused{Lost: true, Reason: "what it made is on no server any more"}, nil
	}
	if err != nil {
		return nil, err
	}
	out := sia.Pushed{SHA: sia.SHA(on.sha), Warning: on.warning}
	if out.SHA != f.SHA {
		out.Made = f.SHA
	}
	return out, nil
}

// pushCommit pushes a commit to the task's branch, which must be at expect; empty: must not exist. If the commit does
// not contain expect and the branch only moves forward, it pushes a commit on top of expect with the same files.
func (w *branchWorker) pushCommit(ctx context.Context, t sia.Task, from, sha, expect string) (branchCommit, error) {
	on, err := w.pushExactly(ctx, t, from, sha, expect)
	var refused *gitops.RejectedError
	var moved *gitops.LeaseError
	forced := errors.As(err, &refused) && refused.OfForce()
	if expect == "" || !forced && !errors.As(err, &moved) {
		return on, err
	}
	if !forced && moved.Head == "" {
		return branchCommit{}, err
	}
	merge, readErr := w.lacksBase(ctx, t, expect)
	if readErr != nil {
		return branchCommit{}, readErr
	}
	over, madeErr := w.onTop(ctx, t, sha, expect, merge)
	if forced && madeErr == nil {
		return w.pushExactly(ctx, t, from, over, expect)
	}
	if madeErr != nil {
		return branchCommit{}, err
	}
	// The answer to an earlier push may have been lost.
	if err := w.mirror(t).FetchCommit(ctx, moved.Head); err != nil {
		return branchCommit{}, err
	}
	same, sameErr := w.mirror(t).SameWork(ctx, moved.Head, over)
	switch {
	case sameErr != nil:
		return branchCommit{}, sameErr
	case !same:
		return branchCommit{}, err
	}
	return branchCommit{sha: moved.Head, onBranch: true}, nil
}

// lacksBase reports whether a commit on top of head with the task's work must be a merge commit: head does not contain
// the base commit on which the work is based.
func (w *branchWorker) lacksBase(ctx context.Context, t sia.Task, head string) (bool, error) {
	if t.Merging != nil {
		return true, nil
	}
	at, err := w.repo(t).MergeBase(ctx, string(t.BaseSHA), head)
	return at != string(t.BaseSHA), err
}

// onTop makes the commit that replaces the work at head by that of sha. It is reproducible: repeated, it makes the same
// commit.
func (w *branchWorker) onTop(ctx context.Context, t sia.Task, sha, head string, merge bool) (string, error) {
	bot, err := w.author(ctx)
	if err != nil {
		return "", err
	}
	if a := t.Attempt(); a != nil {
		bot.When = a.StartedAt
	}
	return w.mirror(t).OnTop(ctx, sha, head, merge, gitops.CommitSpec{Author: bot, Committer: bot})
}

// pushExactly pushes a commit to the task's branch, which must be at expect; empty: must not exist. It needs the
// permission for workflow files if one differs from its version in from, a commit on GitHub. If rules require
// signatures, it pushes a copy that GitHub has signed.
func (w *branchWorker) pushExactly(ctx context.Context, t sia.Task, from, sha, expect string) (branchCommit, error) {
	touched, _, err := w.workflowFiles(ctx, t, from, sha)
	if err != nil {
		return branchCommit{}, err
	}
	mirror := w.mirror(t)
	if len(touched) > 0 {
		mirror = w.Git.Repo(w.repo(t).WorkflowRemote())
	}
	on := branchCommit{sha: sha}
	if t.Commits.Signed {
		defer w.deleteObjects(ctx, t, mirror)
		if on, err = w.createSigned(ctx, t, mirror, from, sha, expect); err != nil {
			return branchCommit{}, err
		}
	}
	if !on.onBranch {
		if err := mirror.Push(ctx, t.Branch, on.sha, expect); err != nil {
			return branchCommit{}, err
		}
	}
	w.repo(t).Pushed(t.Branch, on.sha)
	return on, nil
}

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

// pushCommit pushes a commit to the task's branch, which must be at expect; empty: must not exist. It needs the
// permission for workflow files if one differs from its version in from, a commit on GitHub. If rules require
// signatures, it pushes a copy that GitHub has signed.
func (w *branchWorker) pushCommit(ctx context.Context, t sia.Task, from, sha, expect string) (branchCommit, error) {
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

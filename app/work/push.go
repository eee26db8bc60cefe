package work

import (
	"context"
	"errors"
	"fmt"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// push puts the attempt's commit on the task's branch, if the branch is still
// where the attempt found it. Where the task's head is by now does not matter:
// what a person pushed meanwhile is not in the commit, and must not be replaced.
func (w *branchWorker) push(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	start, err := w.attemptStart(ctx, t, f.Attempt)
	if err != nil {
		return nil, err
	}
	from := start
	switch {
	case t.Merging != nil:
		from = string(t.Merging.Onto)
	case start == "": // the branch is not there yet
		from = string(t.BaseSHA)
	}
	expect := start
	if head := t.Attempts[f.Attempt-1].Head; f.Part > 0 && head != "" { // this takes another racer's place
		expect = string(head)
	}
	on, err := w.pushCommit(ctx, t, from, string(f.SHA), expect)
	if refused, ok := refusedChange(err); ok {
		return refused, nil
	}
	var moved *gitops.LeaseError
	if errors.As(err, &moved) {
		return sia.PushRefused{Head: sia.SHA(moved.Head),
			Reason: fmt.Sprintf("somebody else pushed to `%s` meanwhile", t.Branch)}, nil
	}
	if lostCommit(err, f.SHA) {
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

// pushCommit puts a commit on the task's branch, which is expected at a commit; empty: not
// to be there. It needs the permission for workflow files where one differs from the commit
// from, which GitHub has. Where rules want signatures, it is another commit that GitHub signed.
func (w *branchWorker) pushCommit(ctx context.Context, t sia.Task, from, sha, expect string) (placed, error) {
	touched, _, err := w.workflowFiles(ctx, t, from, sha)
	if err != nil {
		return placed{}, err
	}
	mirror := w.mirror(t)
	if len(touched) > 0 {
		mirror = w.Git.Repo(w.repo(t).WorkflowRemote())
	}
	on := placed{sha: sha}
	if t.Commits.Signed {
		defer w.dropObjects(ctx, t, mirror)
		if on, err = w.signed(ctx, t, mirror, from, sha, expect); err != nil {
			return placed{}, err
		}
	}
	if !on.there {
		if err := mirror.Push(ctx, t.Branch, on.sha, expect); err != nil {
			return placed{}, err
		}
	}
	w.repo(t).Pushed(t.Branch, on.sha)
	return on, nil
}

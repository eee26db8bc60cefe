package world

import (
	"fmt"

	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/runner"
)

// Enqueue adds a pull request to the merge queue of its base: it makes a branch with the result of the merge, and
// requests checks there. A group is one pull request here.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
// https://docs.github.com/en/webhooks/webhook-events-and-payloads#merge_group
func (w *World) Enqueue(r *model.Repository, i *model.Issue, a model.Actor) (branch string, err error) {
	p := i.Pull
	switch {
	case i.State != "open":
		return "", fmt.Errorf("#%d is closed", i.Number)
	case p.Draft:
		return "", fmt.Errorf("#%d is a draft: mark it ready for review first", i.Number)
	case p.Queue != "":
		return "", fmt.Errorf("#%d is in the merge queue", i.Number)
	}
	base := r.Head(p.Base)
	sha, err := w.mergeCommit(r, i, a)
	if err != nil {
		return "", err
	}
	p.Queue = fmt.Sprintf("gh-readonly-queue/%s/pr-%d-%s", p.Base, i.Number, base)
	w.issueEvent(r, i, a, "enqueued", p.Queue, nil)
	// The branch's push starts workflows too, as any push does.
	// https://github.blog/changelog/2022-08-18-merge-group-webhook-event-and-github-actions-workflow-trigger/
	if err := w.MoveRef(r, a, "refs/heads/"+p.Queue, sha); err != nil {
		return "", err
	}
	group := w.emit(r, a, "merge_group", "checks_requested", object{"merge_group": object{
		"head_sha": sha, "head_ref": "refs/heads/" + p.Queue, "base_sha": base, "base_ref": "refs/heads/" + p.Base,
		"head_commit": w.shape.CommitLite(w.git.Facts(r.Dir, sha))}})
	w.note(r, a, journal.Entry{Kind: "merge_group.checks_requested", Number: i.Number, Ref: p.Queue, SHA: sha})
	w.startWorkflows(r, a, runner.Event{Name: "merge_group", Payload: group}, p.Queue, sha)
	return p.Queue, nil
}

// Dequeue removes a pull request from the merge queue: with merged its base moves to the tested commit.
func (w *World) Dequeue(r *model.Repository, i *model.Issue, a model.Actor, merged bool) error {
	p := i.Pull
	ref := "refs/heads/" + p.Queue
	sha := r.Refs[ref]
	if p.Queue == "" || sha == "" {
		return fmt.Errorf("#%d is not in the merge queue", i.Number)
	}
	if merged && !w.git.IsAncestor(r.Dir, r.Head(p.Base), sha) {
		return fmt.Errorf("%s has moved since #%d was queued", p.Base, i.Number)
	}
	p.Queue = ""
	w.issueEvent(r, i, a, "dequeued", "", object{"reason": map[bool]string{true: "MERGE", false: "MANUAL"}[merged]})
	if merged {
		if err := w.finishMerge(r, i, a, sha); err != nil {
			return err
		}
	}
	return w.MoveRef(r, a, ref, "")
}

package world

import (
	"maps"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/runner"
)

// CommitOf is the commit that a branch, tag or SHA of a repository names.
func (w *World) CommitOf(r *model.Repository, ref string) (string, bool) {
	if sha := r.Head(ref); sha != "" {
		return sha, true
	}
	if len(ref) == len(git.NoSHA) && w.git.Known(r.Dir, ref) {
		return ref, true
	}
	return w.git.Resolve(r.Dir, ref)
}

// CommitFiles writes a commit of files on top of a branch, without moving it. A missing branch starts at the default
// branch.
func (w *World) CommitFiles(
	r *model.Repository, a model.Actor, branch, message string, files map[string]string,
) (string, error) {
	parent := r.Head(branch)
	if parent == "" {
		parent = r.Head(r.DefaultBranch)
	}
	var parents []string
	if parent != "" {
		parents = []string{parent}
	}
	return w.git.CommitFiles(r.Dir, parents, files, message, w.signature(a.User))
}

// MoveRef moves one ref (an empty SHA deletes it) and announces it.
func (w *World) MoveRef(r *model.Repository, a model.Actor, ref, sha string) error {
	old := r.Refs[ref]
	if old == sha {
		return nil
	}
	if err := w.git.SetRef(r.Dir, ref, sha, old); err != nil {
		return err
	}
	if sha == "" {
		delete(r.Refs, ref)
	} else {
		r.Refs[ref] = sha
	}
	w.refMoved(r, a, ref, old, sha)
	return nil
}

// RefsMoved compares a repository's refs with those last announced and carries out the consequences of each move.
func (w *World) RefsMoved(r *model.Repository, a model.Actor) error {
	now, err := w.git.Refs(r.Dir)
	if err != nil {
		return err
	}
	before := r.Refs
	r.Refs = now
	names := map[string]bool{}
	for ref := range before {
		names[ref] = true
	}
	for ref := range now {
		names[ref] = true
	}
	for _, ref := range slices.Sorted(maps.Keys(names)) {
		if before[ref] != now[ref] {
			w.refMoved(r, a, ref, before[ref], now[ref])
		}
	}
	return nil
}

// refMoved announces one push: the push event, pull requests with a moved head,
// check suites, workflow runs.
func (w *World) refMoved(r *model.Repository, a model.Actor, ref, old, new string) {
	branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
	forced := old != "" && new != "" && !w.git.IsAncestor(r.Dir, old, new)
	kind := "push"
	switch {
	case old == "":
		kind = "push.created"
	case new == "":
		kind = "push.deleted"
	case forced:
		kind = "push.forced"
	}
	r.Pushed = w.Now()
	w.note(r, a, journal.Entry{Kind: kind, SHA: new,
		Ref: strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/")})
	w.emitRefEvent(r, a, ref, old, new)
	push := w.emit(r, a, "push", "", w.shape.Push(r, a, ref, old, new, forced))
	if !isBranch {
		return
	}
	var moved []func() // start the workflows of pull requests from this branch
	for _, i := range slices.Clone(r.Issues) {
		if i.Pull != nil && i.State == "open" && i.Pull.Head == branch && (!r.PullsLag || new == "") {
			payload := w.headMoved(r, a, i, old, new)
			moved = append(moved, func() { w.startPullWorkflows(r, a, i, payload) })
		}
	}
	if new == "" {
		return
	}
	w.requestSuites(r, a, branch, old, new)
	w.startWorkflows(r, a, runner.Event{Name: "push", Payload: push, Changed: w.changed(r, old, new)}, branch, new)
	for _, start := range moved {
		start()
	}
}

// headMoved handles a push to an open pull request's branch. It returns the payload of the event; there is none when
// the branch was deleted, which closes the pull request.
func (w *World) headMoved(r *model.Repository, a model.Actor, i *model.Issue, old, new string) object {
	if new == "" {
		w.SetState(r, i, a, "closed", "")
		return nil
	}
	i.Pull.HeadSHA, i.Updated = new, w.Now()
	if base := r.Head(i.Pull.Base); base != "" {
		i.Pull.BaseSHA = base
	}
	w.note(r, a, journal.Entry{Kind: "pull_request.synchronize", Number: i.Number, Ref: i.Pull.Head, SHA: new})
	return w.emit(r, a, "pull_request", "synchronize",
		object{"number": i.Number, "before": old, "after": new, "pull_request": w.shape.Pull(r, i)})
}

// LagPulls stops pull requests from following their branches, for hours as happens on GitHub: their head stays, nothing
// is announced and no workflow runs for them. When it ends, they catch up.
// https://github.com/strands-labs/robots/issues/2538
func (w *World) LagPulls(r *model.Repository, on bool) {
	r.PullsLag = on
	for _, i := range slices.Clone(r.Issues) {
		if i.Pull == nil || i.State != "open" || on || i.Pull.HeadSHA == r.Head(i.Pull.Head) {
			continue
		}
		a := model.Actor{User: i.By, App: i.App}
		w.startPullWorkflows(r, a, i, w.headMoved(r, a, i, i.Pull.HeadSHA, r.Head(i.Pull.Head)))
	}
}

// emitRefEvent is the create or delete event of a branch or tag.
func (w *World) emitRefEvent(r *model.Repository, a model.Actor, ref, old, new string) {
	if old != "" && new != "" {
		return
	}
	kind, name := "branch", strings.TrimPrefix(ref, "refs/heads/")
	if t, ok := strings.CutPrefix(ref, "refs/tags/"); ok {
		kind, name = "tag", t
	}
	body := object{"ref": name, "ref_type": kind, "pusher_type": "user"}
	if new == "" {
		w.emit(r, a, "delete", "", body)
		return
	}
	body["master_branch"], body["description"] = r.DefaultBranch, nil
	w.emit(r, a, "create", "", body)
}

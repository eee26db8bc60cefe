package world

import (
	"cmp"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/runner"
)

// startRequired starts the workflows of other repositories that the rules of a pull request's base require. Those of
// the repository itself run as any of its workflows do.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets#require-workflows-to-pass-before-merging
func (w *World) startRequired(r *model.Repository, a model.Actor, event runner.Event, i *model.Issue) {
	p := i.Pull
	if w.noWorkflows || w.mon.Closed() || !startable(a, event) || w.skips(r, event, p.HeadSHA) {
		return
	}
	for _, want := range r.RequiredWorkflows(p.Base) {
		from := w.repositoryByID(want.Repository)
		if from == nil || from == r {
			continue
		}
		ref := cmp.Or(strings.TrimPrefix(want.Ref, "refs/heads/"), from.DefaultBranch)
		text, err := w.git.BlobAt(from.Dir, from.Head(ref), want.Path)
		if err != nil {
			w.log.Error("reading a workflow that is required", "repo", from.FullName(), "error", err)
			continue
		}
		at := started{event: event, branch: p.Head, sha: p.HeadSHA, ref: "refs/heads/" + p.Head, checkout: p.HeadSHA,
			from: from, fromRef: ref}
		w.startWorkflow(r, a, &at, want.Path, text)
	}
}

func (w *World) repositoryByID(id int64) *model.Repository {
	for _, r := range w.Repositories() {
		if r.ID == id {
			return r
		}
	}
	return nil
}

package work

import (
	"context"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// pull ensures that a draft pull request exists for the branch.
func (w *surfaceWorker) pull(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	if p := t.Pull; p.Number != 0 && !p.Merged {
		return sia.PullOpened{Number: p.Number, NodeID: p.NodeID, URL: p.URL, Draft: p.Draft}, nil
	}
	p, err := w.repo(t).EnsurePull(ctx, github.NewPull{
		Head: t.Branch, Base: t.BaseBranch, Title: render.PullTitle(t), Draft: true, Fresh: w.known(t, f) == github.Unwritten,
		Body: render.PullBody(t, w.change(ctx, t), w.Links),
	})
	if err != nil {
		return nil, err
	}
	return sia.PullOpened{Number: p.Number, NodeID: p.NodeID, URL: p.URL, Draft: p.Draft}, nil
}

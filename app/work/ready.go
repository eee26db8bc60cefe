package work

import (
	"context"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// ready brings the pull request's text up to date and marks it ready for review.
func (w *Worker) ready(ctx context.Context, t sia.Task, _ sia.Effect) (sia.Fact, error) {
	if t.Pull.Number == 0 {
		return sia.Done{}, nil
	}
	repo := w.repo(t)
	// The title is left as people may have made it.
	if _, err := repo.UpdatePull(ctx, t.Pull.Number, "", render.PullBody(t, w.Links)); err != nil {
		return nil, err
	}
	return sia.Done{}, repo.MarkReady(ctx, t.Pull.NodeID)
}

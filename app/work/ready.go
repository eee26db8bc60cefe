package work

import (
	"context"

	"github.com/sia-bot/sia/sia"
)

// ready marks the pull request ready for review.
func (w *Worker) ready(ctx context.Context, t sia.Task, _ sia.Effect) (sia.Fact, error) {
	if t.Pull.Number == 0 {
		return sia.Done{}, nil
	}
	return sia.Done{}, w.repo(t).MarkReady(ctx, t.Pull.NodeID)
}

package work

import (
	"context"

	"github.com/sia-bot/sia/sia"
)

// react adds a reaction to an issue or comment. It is idempotent, because GitHub keeps one of each kind per user.
func (w *surfaceWorker) react(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	on := sia.Origin{OnIssue: f.OnIssue, Comment: f.Comment, Thread: f.Thread}
	return sia.Done{}, w.repo(t).React(ctx, on, f.Content)
}

package work

import (
	"context"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// announce posts the intervention's comment on the pull request, or on the issue if there is no pull request.
func (w *surfaceWorker) announce(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	on := t.Issue
	if t.Pull.Number != 0 {
		on = t.Pull.Number
	}
	c, _, err := w.repo(t).UpsertComment(ctx, on, markerLine(f), render.Intervention(t, *t.Next, w.Links),
		w.known(t, f))
	if err != nil {
		return nil, err
	}
	return sia.CommentPosted{URL: c.URL}, nil
}

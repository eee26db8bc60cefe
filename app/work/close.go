package work

import (
	"context"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// close closes an escalation issue with the task's result, if the issue still exists.
func (w *surfaceWorker) close(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	repo := w.repo(t)
	issue, gone, err := repo.IssueOrGone(ctx, f.OnIssue)
	if err != nil || gone {
		return sia.Done{}, err
	}
	if _, err := repo.UpsertComment(ctx, f.OnIssue, markerLine(f), render.EscalationClosing(t), 0); err != nil {
		return nil, err
	}
	reason := "completed"
	if t.State == sia.Stopped {
		reason = "not_planned"
	}
	return sia.Done{}, repo.CloseIssue(ctx, issue, reason)
}

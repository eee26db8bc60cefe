package work

import (
	"context"
	"errors"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// The effects of a single request.

// announce posts the intervention's comment on the pull request, or on the issue if there is no pull request or its
// conversation is locked.
func (w *surfaceWorker) announce(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	on := t.Issue
	if t.Pull.Number != 0 {
		on = t.Pull.Number
	}
	body := render.Intervention(t, *t.Next, w.Links)
	c, err := w.repo(t).UpsertComment(ctx, on, markerLine(f), body, w.known(t, f))
	if github.IsLocked(err) && on != t.Issue {
		c, err = w.repo(t).UpsertComment(ctx, t.Issue, markerLine(f), body, 0)
	}
	if err != nil {
		return nil, err
	}
	return sia.CommentPosted{URL: c.URL}, nil
}

// cancel stops the running attempt; the attempt itself reports its end.
func (w *attemptWorker) cancel(ctx context.Context, _ sia.Task, f sia.Effect) (sia.Fact, error) {
	return sia.Done{}, w.Canceller.CancelEffect(ctx, f.TargetKey)
}

// draft converts the pull request back to a draft while work on it continues.
func (w *surfaceWorker) draft(ctx context.Context, t sia.Task, _ sia.Effect) (sia.Fact, error) {
	if t.Pull.Number == 0 {
		return sia.Drafted{}, nil
	}
	refused, err := refusal(w.repo(t).MarkDraft(ctx, t.Pull.NodeID))
	return sia.Drafted{Refused: refused}, err
}

// ready marks the pull request ready for review.
func (w *surfaceWorker) ready(ctx context.Context, t sia.Task, _ sia.Effect) (sia.Fact, error) {
	if t.Pull.Number == 0 {
		return sia.Readied{}, nil
	}
	refused, err := refusal(w.repo(t).MarkReady(ctx, t.Pull.NodeID))
	return sia.Readied{Refused: refused}, err
}

// refusal returns the message of a permanent refusal by GitHub. Other errors, which a retry may solve, are returned
// unchanged.
func refusal(err error) (string, error) {
	var known *sia.Error
	if !errors.As(err, &known) || !sia.IsPermanent(err) {
		return "", err
	}
	return known.Message, nil
}

// react adds a reaction to an issue or comment. It is idempotent, because GitHub keeps one of each kind per user.
func (w *surfaceWorker) react(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	on := sia.Origin{OnIssue: f.OnIssue, Comment: f.Comment, Thread: f.Thread}
	return sia.Done{}, w.repo(t).React(ctx, on, f.Content)
}

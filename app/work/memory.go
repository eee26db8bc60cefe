package work

import (
	"context"
	"time"

	"github.com/sia-bot/sia/sia"
)

// memory learns from what the task came to so far, and has it committed to the memory branch.
func (w *Worker) memory(ctx context.Context, t sia.Task, _ sia.Effect) (sia.Fact, error) {
	if err := w.Chooser.Observe(ctx, t); err != nil {
		return nil, err
	}
	said := func(ctx context.Context) ([]string, error) { return w.comments(ctx, t) }
	if err := w.Lessons.FromTask(ctx, t, w.Coders.Tools, said); err != nil {
		return nil, err
	}
	committed, err := w.Memory.Commit(ctx, t)
	if err != nil {
		return nil, err
	}
	return committed, nil
}

// comments are what was said on the task's issue and pull request, but for what
// SIA wrote there itself: it quotes the logs.
func (w *Worker) comments(ctx context.Context, t sia.Task) ([]string, error) {
	self, err := w.GitHub.Self(ctx)
	if err != nil {
		return nil, err
	}
	var said []string
	for _, n := range []int{t.Issue, t.Pull.Number} {
		if n == 0 {
			continue
		}
		list, err := w.repo(t).CommentsSince(ctx, n, t.CreatedAt.Add(-allComments))
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			if c.Author != self.Login {
				said = append(said, c.Body)
			}
		}
	}
	return said, nil
}

// allComments is how long before the task an issue may have been talked about.
const allComments = 10 * 365 * 24 * time.Hour

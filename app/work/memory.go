package work

import (
	"context"
	"errors"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// memory learns from the task's results so far, and commits them to the memory branch.
func (w *learnWorker) memory(ctx context.Context, t sia.Task, _ sia.Effect) (sia.Fact, error) {
	if err := w.observe(ctx, t); err != nil {
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

// observe records the result of the task so far for the policies that learn from it.
func (w *learnWorker) observe(ctx context.Context, t sia.Task) error {
	return errors.Join(w.Chooser.Observe(ctx, t), w.Decider.Observe(ctx, t))
}

// comments returns the comments on the task's issue and pull request, except SIA's own, which quote logs.
func (w *learnWorker) comments(ctx context.Context, t sia.Task) ([]string, error) {
	self, err := w.GitHub.Self(ctx)
	if err != nil {
		return nil, err
	}
	list, err := w.taskComments(ctx, t)
	var said []string
	for _, c := range list {
		if c.Author != self.Login {
			said = append(said, c.Body)
		}
	}
	return said, err
}

// taskComments returns the comments on the task's issue and pull request. If there were no comments before the task
// began, and the task is recent, a single request returns both.
func (w *learnWorker) taskComments(ctx context.Context, t sia.Task) (all []github.Comment, err error) {
	_, err = w.Store.Text(ctx, t.ID, 0, textQuiet)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if err == nil && w.Now().Sub(t.CreatedAt) < recentTaskAge {
		list, err := w.repo(t).CommentsEverywhere(ctx, t.CreatedAt)
		for _, c := range list {
			if c.Issue == t.Issue || c.Issue == t.Pull.Number && c.Issue != 0 {
				all = append(all, c)
			}
		}
		return all, err
	}
	for _, n := range []int{t.Issue, t.Pull.Number} {
		if n == 0 || n == t.Issue && t.IssueGone {
			continue
		}
		list, err := w.repo(t).CommentsSince(ctx, n, t.CreatedAt.Add(-commentLookback))
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// textQuiet marks a task with an issue that had no comments when its first attempt began.
const textQuiet = "quiet"

// saveQuiet stores textQuiet if the issue has no comments of users.
func (w *startWorker) saveQuiet(ctx context.Context, t sia.Task, issue github.Issue) error {
	if len(t.Attempts) > 0 || t.Earlier > 0 || issue.Comments > 1 {
		return nil
	}
	status, _, err := w.Store.Surface(ctx, t.ID, store.SurfaceStatus)
	if err != nil || issue.Comments == 1 && status == 0 {
		return err
	}
	return w.Store.SaveText(ctx, t.ID, 0, textQuiet, "yes")
}

// recentTaskAge is the maximum age of a task for which all comments in the repository since it began are requested at
// once.
const recentTaskAge = time.Hour

// commentLookback is how far before the task's creation comments are requested.
const commentLookback = 10 * 365 * 24 * time.Hour

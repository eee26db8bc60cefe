package work

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// patternTasks are how many of a repository's tasks are searched for patterns,
// the most recently changed.
const patternTasks = 500

// heartbeat puts the lessons of every repository in order that is not at work:
// patterns become lessons, the same lesson twice becomes one, and each is
// promoted, archived or neither by what its evidence is worth now. A repository
// that is at work has its turn at the next beat.
func (w *Worker) heartbeat(ctx context.Context) error {
	repos, err := w.Store.LessonRepositories(ctx)
	if err != nil {
		return err
	}
	open, err := w.Store.Tasks(ctx, store.Filter{Open: true, Limit: maxLook})
	if err != nil {
		return err
	}
	busy := map[int64]bool{}
	for _, t := range open {
		busy[t.Repo.ID] = busy[t.Repo.ID] || t.State != sia.Escalated && t.State != sia.OnHold
	}
	var all []error
	for _, repo := range repos {
		if busy[repo] {
			continue
		}
		if err := w.beat(ctx, repo); err != nil {
			all = append(all, fmt.Errorf("lessons of repository %d: %w", repo, err))
		}
	}
	return errors.Join(all...)
}

// beat puts one repository's lessons in order.
func (w *Worker) beat(ctx context.Context, repo int64) error {
	tasks, err := w.Store.Tasks(ctx, store.Filter{Repo: repo, Limit: patternTasks})
	if err != nil {
		return err
	}
	patterns, seen := lesson.Patterns(tasks, w.Now())
	fresh, err := w.unknown(ctx, repo, patterns)
	if err != nil {
		return err
	}
	if err := w.keep(ctx, repo, fresh); err != nil {
		return err
	}
	if err := w.Store.CountLessons(ctx, repo, seen...); err != nil {
		return err
	}
	all, err := w.Store.Lessons(ctx, repo)
	if err != nil {
		return err
	}
	if err := w.merge(ctx, repo, all); err != nil {
		return err
	}
	return w.settle(ctx, repo)
}

// settle promotes and archives.
func (w *Worker) settle(ctx context.Context, repo int64) error {
	all, err := w.Store.Lessons(ctx, repo)
	if err != nil {
		return err
	}
	var moved []lesson.Lesson
	for _, l := range all {
		after, why := l.Settle(w.Now())
		if why != "" {
			w.Logger.InfoContext(ctx, "lesson moved", "repo_id", repo, "lesson", l.ID, "why", why)
			moved = append(moved, after)
		}
	}
	return w.Store.PutLessons(ctx, repo, slices.Clip(moved)...)
}

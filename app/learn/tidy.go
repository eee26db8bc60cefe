package learn

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// maxPatternTasks is the number of a repository's tasks that are searched for patterns, the most recently changed.
const maxPatternTasks = 500

// maxOpenTasks limits the open tasks that are read to find busy repositories.
const maxOpenTasks = 500

// Tidy maintains the lessons of every repository without running tasks, at the interval in its settings: it converts
// patterns to lessons, merges equal lessons, and promotes or archives each by its present evidence. A busy repository
// is skipped until the next call.
func (ls *Lessons) Tidy(ctx context.Context) error {
	repos, err := ls.store.LessonRepositories(ctx)
	if err != nil {
		return err
	}
	open, err := ls.store.Tasks(ctx, store.Filter{Open: true, Limit: maxOpenTasks})
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
		if err := ls.tidyWhenDue(ctx, repo); err != nil {
			all = append(all, fmt.Errorf("lessons of repository %d: %w", repo, err))
		}
	}
	return errors.Join(all...)
}

// tidyWhenDue maintains one repository's lessons if that is due. A panic becomes an error, so that it ends the
// maintenance of one repository only.
func (ls *Lessons) tidyWhenDue(ctx context.Context, repo int64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	set, err := ls.inForce(ctx, repo)
	if err != nil || !set.Enabled {
		return err
	}
	due, err := ls.isDue(ctx, repo, set.Heartbeat.D())
	if err != nil || !due {
		return err
	}
	err = ls.tidyRepository(ctx, repo, set)
	if errors.Is(err, store.ErrStale) {
		ls.log.InfoContext(ctx, "lessons are maintained later: a person changed one meanwhile", "repo_id", repo)
		return nil
	}
	if err != nil {
		return err
	}
	return ls.store.RecordHeartbeat(ctx, repo, ls.now())
}

// tidyRepository maintains one repository's lessons.
func (ls *Lessons) tidyRepository(ctx context.Context, repo int64, set sia.LearningSettings) error {
	tasks, err := ls.store.Tasks(ctx, store.Filter{Repo: repo, Limit: maxPatternTasks})
	if err != nil {
		return err
	}
	patterns, seen := lesson.Patterns(tasks, ls.now())
	fresh, err := ls.filterNew(ctx, repo, patterns)
	if err != nil {
		return err
	}
	if err := ls.saveLearned(ctx, repo, fresh, set); err != nil {
		return err
	}
	if err := ls.store.CountLessons(ctx, repo, seen...); err != nil {
		return err
	}
	all, err := ls.store.Lessons(ctx, repo)
	if err != nil {
		return err
	}
	if err := ls.merge(ctx, repo, all); err != nil {
		return err
	}
	return ls.settle(ctx, repo, set.DecayDays)
}

// settle promotes and archives lessons. Evidence decays at the rate in the repository's settings.
func (ls *Lessons) settle(ctx context.Context, repo int64, decay int) error {
	all, err := ls.store.Lessons(ctx, repo)
	if err != nil {
		return err
	}
	var moved []lesson.Lesson
	for _, l := range all {
		was := l.Decay
		if l.Decay = decay; decay == lesson.DecayDays {
			l.Decay = 0
		}
		after, why := l.UpdateState(ls.now())
		if why != "" {
			ls.log.InfoContext(ctx, "lesson moved", "repo_id", repo, "lesson", l.ID, "why", why)
		}
		if why != "" || l.Decay != was {
			moved = append(moved, after)
		}
	}
	return ls.store.MergeLessons(ctx, repo, all, moved, nil)
}

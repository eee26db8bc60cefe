package learn

import (
	"context"
	"errors"
	"fmt"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// patternTasks are how many of a repository's tasks are searched for patterns,
// the most recently changed.
const patternTasks = 500

// maxOpenTasks bounds how many open tasks are asked which repositories are at work.
const maxOpenTasks = 500

// Tidy puts the lessons of every repository in order that is not at work, as often as its settings
// say:
// patterns become lessons, the same lesson twice becomes one, and each is
// promoted, archived or neither by what its evidence is worth now. A repository
// that is at work has its turn the next time.
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

// tidyWhenDue puts one repository's lessons in order when its time has come.
func (ls *Lessons) tidyWhenDue(ctx context.Context, repo int64) error {
	set, err := ls.inForce(ctx, repo)
	if err != nil || !set.Enabled {
		return err
	}
	due, err := ls.due(ctx, repo, set.Heartbeat.D())
	if err != nil || !due {
		return err
	}
	if err := ls.tidyRepository(ctx, repo, set); err != nil {
		return err
	}
	return ls.store.RecordHeartbeat(ctx, repo, ls.now())
}

// tidyRepository puts one repository's lessons in order.
func (ls *Lessons) tidyRepository(ctx context.Context, repo int64, set sia.LearningSettings) error {
	tasks, err := ls.store.Tasks(ctx, store.Filter{Repo: repo, Limit: patternTasks})
	if err != nil {
		return err
	}
	patterns, seen := lesson.Patterns(tasks, ls.now())
	fresh, err := ls.unknown(ctx, repo, patterns)
	if err != nil {
		return err
	}
	if err := ls.keep(ctx, repo, fresh); err != nil {
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

// settle promotes and archives, by evidence that fades as fast as the repository's settings say.
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
		after, why := l.Settle(ls.now())
		if why != "" {
			ls.log.InfoContext(ctx, "lesson moved", "repo_id", repo, "lesson", l.ID, "why", why)
		}
		if why != "" || l.Decay != was {
			moved = append(moved, after)
		}
	}
	return ls.store.PutLessons(ctx, repo, moved...)
}

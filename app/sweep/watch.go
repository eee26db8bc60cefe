package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// watchRetry is how long after a look that failed the next one follows.
const watchRetry = time.Hour

// Watcher reads how a passed pull request stands.
type Watcher interface {
	Standing(ctx context.Context, t sia.Task) (sia.Watched, error)
}

// watch looks at the pull requests that have passed and are neither merged nor closed, each about once a day. What a
// look finds changed goes the way of a webhook, and is read once more there.
func (s *Sweeper) watch(ctx context.Context) error {
	tasks, err := s.store.Tasks(ctx, store.Filter{State: sia.Passed, Limit: maxLook})
	if err != nil {
		return err
	}
	tasks = slices.DeleteFunc(tasks, func(t sia.Task) bool { return t.Pull.Number == 0 || t.Pull.Merged || t.Gone })
	var all []error
	for _, t := range s.watched.take(tasks, s.now()) {
		if err := s.watchOne(ctx, t); err != nil {
			s.watched.again(t, s.now().Add(watchRetry))
			all = append(all, fmt.Errorf("look at the pull request of task %s, which has passed: %w", t.ID, err))
		}
	}
	return errors.Join(all...)
}

func (s *Sweeper) watchOne(ctx context.Context, t sia.Task) error {
	now, err := s.watcher.Standing(ctx, t)
	if err != nil || t.Stands(now) {
		return err
	}
	_, err = s.store.Apply(ctx, t.ID, sia.Event{ID: fmt.Sprintf("watch/%s/v%d", t.ID, t.Version), At: s.now(),
		Fact: sia.CheckSeen{SHA: t.Head, Bad: true}})
	return err
}

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

// watchRetry is the delay before the next look at a passed pull request after a failed one.
const watchRetry = time.Hour

// looks looks at the tasks that have not ended, each at the interval of its temperature.
func (s *Sweeper) looks(ctx context.Context) error {
	return s.forDue(ctx, &s.looked, s.Look, sia.Hot, sia.Warm)
}

// repair restores status comments and labels that were changed by users or
// errors.
func (s *Sweeper) repair(ctx context.Context) error {
	return s.forDue(ctx, &s.repaired, s.repairer.Repair, sia.Hot, sia.Warm)
}

// watch looks at the open pull requests that have passed, each about once a day.
func (s *Sweeper) watch(ctx context.Context) error {
	return s.forDue(ctx, &s.watched, func(ctx context.Context, t sia.Task) error {
		err := s.Look(ctx, t)
		if err != nil {
			s.watched.reschedule(t.ID, s.now().Add(watchRetry))
		}
		return err
	}, sia.Cool, sia.Cold)
}

// forDue calls do for the due tasks of the given temperatures.
func (s *Sweeper) forDue(
	ctx context.Context, w *schedule, do func(context.Context, sia.Task) error, of ...sia.Temperature,
) error {
	looks, err := s.store.Looks(ctx, of...)
	if err != nil {
		return err
	}
	return s.runDue(ctx, w, looks, func(ctx context.Context, t sia.Task) error {
		if !slices.Contains(of, t.Temperature()) {
			return nil // now handled by another round
		}
		return do(ctx, t)
	})
}

// runDue calls do for those of the tasks that are due. It continues after an error.
func (s *Sweeper) runDue(
	ctx context.Context, w *schedule, looks []store.Look, do func(context.Context, sia.Task) error,
) error {
	var all []error
	for _, id := range w.due(looks, s.now()) {
		t, err := s.store.Task(ctx, id)
		if err == nil {
			err = do(ctx, t)
		}
		if err != nil {
			all = append(all, fmt.Errorf("task %s: %w", id, err))
		}
	}
	return errors.Join(all...)
}

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

// watchRetry is how long after a look that failed at a passed pull request the next one follows.
const watchRetry = time.Hour

// looks looks at the tasks that have not ended, each as often as its temperature says.
func (s *Sweeper) looks(ctx context.Context) error {
	return s.inTurn(ctx, &s.looked, s.Look, sia.Hot, sia.Warm)
}

// repair writes status comment and labels again where people or chance
// changed them; what is right already is left alone.
func (s *Sweeper) repair(ctx context.Context) error {
	return s.inTurn(ctx, &s.repaired, s.shown.Repair, sia.Hot, sia.Warm)
}

// watch looks at the pull requests that have passed and are neither merged nor closed, each about once a day.
func (s *Sweeper) watch(ctx context.Context) error {
	return s.inTurn(ctx, &s.watched, func(ctx context.Context, t sia.Task) error {
		err := s.Look(ctx, t)
		if err != nil {
			s.watched.again(t.ID, s.now().Add(watchRetry))
		}
		return err
	}, sia.Cold)
}

// inTurn does something about the tasks of some temperatures of which it is the turn.
func (s *Sweeper) inTurn(
	ctx context.Context, w *turns, do func(context.Context, sia.Task) error, of ...sia.Temperature,
) error {
	looks, err := s.store.Looks(ctx, of...)
	if err != nil {
		return err
	}
	return s.serve(ctx, w, looks, func(ctx context.Context, t sia.Task) error {
		if !slices.Contains(of, t.Temperature()) {
			return nil // it is another round's by now
		}
		return do(ctx, t)
	})
}

// serve does something about those of some tasks of which it is the turn. One task's trouble does not keep the others
// from theirs.
func (s *Sweeper) serve(
	ctx context.Context, w *turns, looks []store.Look, do func(context.Context, sia.Task) error,
) error {
	var all []error
	for _, id := range w.take(looks, s.now()) {
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

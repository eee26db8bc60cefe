package sweep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sia-bot/sia/sia"
)

// Watcher reads the checks of a pull request.
type Watcher interface {
	// Standing returns the state of a passed pull request.
	Standing(ctx context.Context, t sia.Task) (sia.Watched, error)
	// Speak reports whether checks that a user was asked about are conclusive now.
	Speak(ctx context.Context, t sia.Task) (bool, error)
}

// Look compares a task with GitHub. Changes are processed like those of a webhook.
func (s *Sweeper) Look(ctx context.Context, t sia.Task) error {
	switch t.Temperature() {
	case "":
		return nil
	case sia.Cool, sia.Cold:
		now, err := s.watcher.Standing(ctx, t)
		if err != nil {
			return err
		}
		if !t.HasSeen(now) {
			err = s.applyCheckSeen(ctx, t, fmt.Sprintf("watch/%s/v%d", t.ID, t.Version), true)
		}
		return errors.Join(err, s.Task(ctx, t))
	}
	if err := s.Task(ctx, t); err != nil || !t.AsksAboutChecks() {
		return err
	}
	if gating := slices.Contains(slices.Collect(maps.Values(t.Pending)), sia.DoGate); gating {
		return nil // the gate polls while checks run
	}
	speak, err := s.watcher.Speak(ctx, t)
	if err != nil || !speak {
		return err
	}
	return s.applyCheckSeen(ctx, t, fmt.Sprintf("look/%s/checks/v%d", t.ID, t.Version), false)
}

// applyCheckSeen applies the event that the checks of a task's head have changed, as after a webhook. The checks are
// read again before a verdict.
func (s *Sweeper) applyCheckSeen(ctx context.Context, t sia.Task, event string, bad bool) error {
	_, err := s.store.Apply(ctx, t.ID, sia.Event{ID: event, At: s.now(), Fact: sia.CheckSeen{SHA: t.Head, Bad: bad}})
	return err
}

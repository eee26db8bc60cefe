package sweep

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sia-bot/sia/sia"
)

// Watcher reads how the checks of a pull request stand.
type Watcher interface {
	// Standing says it of one that has passed.
	Standing(ctx context.Context, t sia.Task) (sia.Watched, error)
	// Speak reports whether checks that a person was asked about say by themselves now how the task goes on.
	Speak(ctx context.Context, t sia.Task) (bool, error)
}

// Look compares a task with GitHub. What it finds changed goes the way of a webhook.
func (s *Sweeper) Look(ctx context.Context, t sia.Task) error {
	switch t.Temperature() {
	case "":
		return nil
	case sia.Cold:
		now, err := s.watcher.Standing(ctx, t)
		if err != nil || t.HasSeen(now) {
			return err
		}
		return s.seen(ctx, t, fmt.Sprintf("watch/%s/v%d", t.ID, t.Version), true)
	}
	if err := s.Task(ctx, t); err != nil || !t.AsksAboutChecks() {
		return err
	}
	if gating := slices.Contains(slices.Collect(maps.Values(t.Pending)), sia.DoGate); gating {
		return nil // the gate goes on looking while checks run
	}
	speak, err := s.watcher.Speak(ctx, t)
	if err != nil || !speak {
		return err
	}
	return s.seen(ctx, t, fmt.Sprintf("look/%s/checks/v%d", t.ID, t.Version), false)
}

// seen says that the checks of a task's head have changed, as a webhook does. They are read once more before anything
// is concluded.
func (s *Sweeper) seen(ctx context.Context, t sia.Task, event string, bad bool) error {
	_, err := s.store.Apply(ctx, t.ID, sia.Event{ID: event, At: s.now(), Fact: sia.CheckSeen{SHA: t.Head, Bad: bad}})
	return err
}

package store

import (
	"context"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Look is a task that may change on GitHub, and so has to be polled.
type Look struct {
	Task        sia.TaskID
	Temperature sia.Temperature
	Changed     time.Time // last change of the task
}

// Looks lists all tasks of the given temperatures, by id. It reads only an index, not the tasks.
func (s *TaskStore) Looks(ctx context.Context, of ...sia.Temperature) ([]Look, error) {
	args := make([]any, len(of))
	for i, t := range of {
		args[i] = t
	}
	return list(ctx, s.DB, "list what is to be looked at", func(from row) (l Look, err error) {
		err = from.Scan(&l.Task, &l.Temperature, timeColumn{&l.Changed})
		return l, err
	}, looksQuery(len(of)), args...)
}

// Changed lists all tasks that changed since a time, without their temperature. It reads only an index, not the tasks.
func (s *TaskStore) Changed(ctx context.Context, since time.Time) ([]Look, error) {
	return list(ctx, s.DB, "list the tasks that changed", func(from row) (l Look, err error) {
		err = from.Scan(&l.Task, timeColumn{&l.Changed})
		return l, err
	}, changedQuery, micros(since))
}

const changedQuery = `SELECT id, updated_at FROM tasks WHERE updated_at >= ? ORDER BY updated_at DESC, id`

func looksQuery(n int) string {
	return `SELECT id, temperature, updated_at FROM tasks WHERE temperature <> '' AND temperature IN (` +
		strings.TrimSuffix(strings.Repeat("?, ", n), ", ") + `) ORDER BY id`
}

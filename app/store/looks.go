package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Look is a task of which something may change on GitHub.
type Look struct {
	Task        sia.TaskID
	Temperature sia.Temperature
	Changed     time.Time // when the task did last
}

// Looks lists all tasks of some temperatures, by id. It reads an index alone, and none of the tasks.
func (s *TaskStore) Looks(ctx context.Context, of ...sia.Temperature) ([]Look, error) {
	args := make([]any, len(of))
	for i, t := range of {
		args[i] = t
	}
	looks, err := collect(ctx, s.r, func(rows *sql.Rows) (l Look, err error) {
		var at int64
		err = rows.Scan(&l.Task, &l.Temperature, &at)
		l.Changed = fromMicros(at)
		return l, err
	}, looksQuery(len(of)), args...)
	return looks, s.explain("list what is to be looked at", err)
}

func looksQuery(n int) string {
	return `SELECT id, temperature, updated_at FROM tasks WHERE temperature <> '' AND temperature IN (` +
		strings.TrimSuffix(strings.Repeat("?, ", n), ", ") + `) ORDER BY id`
}

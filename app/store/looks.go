package store

import (
	"context"
	"database/sql"
	"encoding/json"
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

// Looks lists all tasks of some temperatures, by id. It reads an index alone, and none of the tasks but those that an
// older server wrote last.
func (s *TaskStore) Looks(ctx context.Context, of ...sia.Temperature) ([]Look, error) {
	if err := s.temper(ctx); err != nil {
		return nil, err
	}
	args := make([]any, len(of))
	for i, t := range of {
		args[i] = t
	}
	return list(ctx, s.DB, "list what is to be looked at", func(from row) (l Look, err error) {
		err = from.Scan(&l.Task, &l.Temperature, intoTime{&l.Changed})
		return l, err
	}, looksQuery(len(of)), args...)
}

// Changed lists all tasks that changed since a time, without their temperature. It reads an index alone, and none of
// the tasks.
func (s *TaskStore) Changed(ctx context.Context, since time.Time) ([]Look, error) {
	return list(ctx, s.DB, "list the tasks that changed", func(from row) (l Look, err error) {
		err = from.Scan(&l.Task, intoTime{&l.Changed})
		return l, err
	}, changedQuery, micros(since))
}

const changedQuery = `SELECT id, updated_at FROM tasks WHERE updated_at >= ? ORDER BY updated_at DESC, id`

func looksQuery(n int) string {
	return `SELECT id, temperature, updated_at FROM tasks WHERE temperature <> '' AND temperature IN (` +
		strings.TrimSuffix(strings.Repeat("?, ", n), ", ") + `) ORDER BY id`
}

// temper notes the temperature of tasks that an older server wrote last, at most temperBatch of them.
func (s *TaskStore) temper(ctx context.Context) error {
	const op = "note how soon tasks may change that an older server wrote"
	type untempered struct {
		id          sia.TaskID
		version     int64
		temperature sia.Temperature
	}
	found, err := collect(ctx, s.r, func(from row) (r untempered, err error) {
		var text string
		if err := from.Scan(&r.id, &r.version, &text); err != nil {
			return r, err
		}
		var t sia.Task
		_ = json.Unmarshal([]byte(text), &t) // who looks at one that can't be read says so
		r.temperature = t.Temperature()
		return r, nil
	}, untemperedQuery, temperBatch)
	if err != nil || len(found) == 0 {
		return s.explain(op, err)
	}
	return s.write(ctx, op, func(tx *sql.Tx) error {
		for _, r := range found {
			if _, err := tx.ExecContext(ctx, `UPDATE tasks SET temperature = ?, temperature_of = ? WHERE id = ? AND version = ?`,
				r.temperature, r.version, r.id, r.version); err != nil {
				return err
			}
		}
		return nil
	})
}

// temperBatch is at most how many tasks an older server wrote that one list takes up; the next takes up others.
const temperBatch = 500

const untemperedQuery = `SELECT id, version, task FROM tasks WHERE temperature_of <> version ORDER BY id LIMIT ?`

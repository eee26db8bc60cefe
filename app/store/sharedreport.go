package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sia-bot/sia/sia"
)

// SharedReport is the report of counts that this server shared for one period.
type SharedReport struct {
	Period int    // 1-based
	Key    string // public key that signed it
	Signed []byte // the file
	At     time.Time
}

// SharedTask identifies the shared part of a task: its first technique, or else its first coder.
type SharedTask struct {
	Task      sia.TaskID
	Technique bool
}

// ErrShared is wrapped by the errors for data that was shared before.
var ErrShared = errors.New("it was shared already")

// SaveSharedReport stores a report and the tasks counted in it, all or nothing. The report must be for the
// period after the last one, and count nothing that was counted before: otherwise the error wraps [ErrShared].
func (s *PriorStore) SaveSharedReport(ctx context.Context, r SharedReport, counted []SharedTask) error {
	op := fmt.Sprintf("keep the report for period %d", r.Period)
	packed, err := pack(r.Signed)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return s.write(ctx, op, func(tx *sql.Tx) error {
		if err := s.advisoryLock(ctx, tx, "shared reports"); err != nil {
			return err
		}
		var last int
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(period), 0) FROM shared_reports`).Scan(&last); err != nil {
			return err
		}
		if r.Period != last+1 {
			return fmt.Errorf("%w: the last report is for period %d", ErrShared, last)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO shared_reports (period, key, report, at) VALUES (?, ?, ?, ?)`, r.Period,
			r.Key, packed, micros(r.At)); err != nil {
			return err
		}
		for _, c := range counted {
			n, err := affected(ctx, tx, `INSERT INTO shared_tasks (task_id, technique, period) VALUES (?, ?, ?)
				ON CONFLICT DO NOTHING`, c.Task, c.Technique, r.Period)
			if err == nil && n != 1 {
				err = fmt.Errorf("task %s: %w", c.Task, ErrShared)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// LastSharedReport returns the report for the last period; the error wraps [ErrNotFound] when there is none.
func (s *PriorStore) LastSharedReport(ctx context.Context) (r SharedReport, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT period, key, report, at FROM shared_reports ORDER BY period DESC LIMIT 1`).
		Scan(&r.Period, &r.Key, packedColumn{&r.Signed}, timeColumn{&r.At})
	return r, s.explain("load the last report", orNotFound(err))
}

// SharedTasks lists what was counted in the reports of all periods.
func (s *PriorStore) SharedTasks(ctx context.Context) ([]SharedTask, error) {
	return list(ctx, s.DB, "load what was shared", func(from row) (t SharedTask, err error) {
		err = from.Scan(&t.Task, &t.Technique)
		return t, err
	}, `SELECT task_id, technique FROM shared_tasks ORDER BY task_id, technique`)
}

// RestoredTasks lists the tasks that were rebuilt from a memory branch: whether they were shared before is unknown.
func (s *TaskStore) RestoredTasks(ctx context.Context) ([]sia.TaskID, error) {
	return list(ctx, s.DB, "load the tasks that were rebuilt", scanValue[sia.TaskID],
		`SELECT DISTINCT task_id FROM task_events WHERE kind = ? AND ignored = '' ORDER BY task_id`, sia.KRestored)
}

// TaskLanguages returns the language in the context of each task's first decision that has one, by task.
// Deleted tasks, and tasks without such a decision, are missing.
func (s *DecisionStore) TaskLanguages(ctx context.Context) (map[sia.TaskID]string, error) {
	type spoken struct {
		task     sia.TaskID
		language string
	}
	all, err := collect(ctx, s.r, func(from row) (v spoken, err error) {
		var text string
		if err := from.Scan(&v.task, &text); err != nil {
			return v, err
		}
		var context struct{ Language string }
		if json.Unmarshal([]byte(text), &context) == nil {
			v.language = context.Language
		}
		return v, nil
	}, `SELECT task_id, context FROM decisions WHERE type IN (?, ?, ?) ORDER BY n`, sia.DecideDecompose, sia.DecideAssign,
		sia.DecideTechnique)
	out := make(map[sia.TaskID]string, len(all))
	for _, v := range all {
		if _, known := out[v.task]; !known && v.language != "" {
			out[v.task] = v.language
		}
	}
	return out, s.explain("load the languages of tasks", err)
}

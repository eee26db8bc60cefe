package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/sia-bot/sia/sia"
)

// PruneTasks deletes tasks that have ended and did not change since a time, each with its log, effects, decisions,
// credits and other rows. It keeps what was learned from it: outcomes, its end, its part in an experiment and evidence
// of lessons. It also records the deletion ([TaskStore.Deleted]). It keeps tasks with pending effects, and tasks that
// are not in their memory branch. When it returns an error, the deletions made so far are committed.
func (s *TaskStore) PruneTasks(ctx context.Context, before time.Time) (n int64, err error) {
	err = s.eachEnded(ctx, before, "TRUE", func(id sia.TaskID) error {
		deleted, err := s.pruneTask(ctx, id, before)
		if deleted {
			n++
		}
		return err
	})
	return n, err
}

// eachEnded calls do for each task that ended, did not change since a time, and matches an SQL condition on the row t:
// first those that have not changed for longest.
func (s *DB) eachEnded(ctx context.Context, before time.Time, condition string, do func(id sia.TaskID) error) error {
	type place struct { // position in the index
		at    int64
		id    sia.TaskID
		state sia.State
	}
	for last := (place{}); ; {
		batch, err := list(ctx, s, "list tasks that ended", func(from row) (p place, err error) {
			err = from.Scan(&p.at, &p.id, &p.state)
			return p, err
		}, unchangedQuery(condition), last.at, micros(before), last.at, last.id, pruneBatch)
		if err != nil || len(batch) == 0 {
			return err
		}
		for _, last = range batch {
			if !last.state.Final() {
				continue
			}
			if err := do(last.id); err != nil {
				return err
			}
		}
	}
}

// unchangedQuery has no condition on the state: from an index that begins with it, each batch would sort all tasks.
func unchangedQuery(condition string) string {
	return `SELECT t.updated_at, t.id, t.state FROM tasks t WHERE t.updated_at >= ? AND t.updated_at < ?
		AND (t.updated_at > ? OR t.id > ?) AND ` + condition + ` ORDER BY t.updated_at, t.id LIMIT ?`
}

// pruneTask deletes a task, its transcript first and in batches: a long one would block other writers.
func (s *TaskStore) pruneTask(ctx context.Context, id sia.TaskID, before time.Time) (deleted bool, err error) {
	if kept, err := isInMemory(ctx, s.r, id); err != nil || !kept {
		return false, s.explain("prune task "+string(id), err)
	}
	if _, err := s.pruneTexts(ctx, id, before); err != nil {
		return false, err
	}
	err = s.write(ctx, "prune task "+string(id), func(tx *sql.Tx) error {
		if err := s.advisoryLock(ctx, tx, taskLock(id)); err != nil {
			return err
		}
		kept, err := isInMemory(ctx, tx, id) // an event may have been applied meanwhile
		if err != nil || !kept {
			return err
		}
		rows, err := affected(ctx, tx, `DELETE FROM tasks WHERE id = ? AND state IN (?, ?) AND updated_at < ?`,
			id, sia.Passed, sia.Stopped, micros(before))
		if deleted = rows > 0; err == nil && deleted {
			_, err = tx.ExecContext(ctx, `INSERT INTO deleted_tasks (task_id) VALUES (?)`, id)
		}
		return err
	})
	return deleted, err
}

// Deleted reports whether a task was deleted by [TaskStore.PruneTasks] and has not been started again since.
func (s *TaskStore) Deleted(ctx context.Context, id sia.TaskID) (deleted bool, err error) {
	return load(ctx, s.DB, "look whether task "+string(id)+" was deleted", scanValue[bool],
		`SELECT EXISTS (SELECT 1 FROM deleted_tasks WHERE task_id = ?)`, id)
}

// isInMemory reports whether a task has no pending effects and is in its memory branch: the last memory commit
// succeeded, or the task was rebuilt from the branch.
func isInMemory(ctx context.Context, q querier, id sia.TaskID) (bool, error) {
	var pending int
	var restored bool
	if err := q.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM effects WHERE task_id = ? AND state = ?),
		EXISTS (SELECT 1 FROM task_events WHERE task_id = ? AND kind = ? AND ignored = '')`, id, EffectPending, id,
		sia.KRestored).Scan(&pending, &restored); err != nil || pending > 0 {
		return false, err
	}
	var state EffectState
	var outcome sql.NullString // null: it did not change the task
	err := q.QueryRowContext(ctx, `SELECT f.state, o.event FROM effects f
		LEFT JOIN task_events o ON o.task_id = f.task_id AND o.event_id = f.key
		WHERE f.task_id = ? AND f.kind = ? ORDER BY f.created_at DESC, f.rowid DESC LIMIT 1`, id, sia.DoMemory).
		Scan(&state, &outcome)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return restored, nil
	case err != nil || state != EffectDone || !outcome.Valid:
		return false, err
	}
	var e sia.Event
	if err := json.Unmarshal([]byte(outcome.String), &e); err != nil {
		return false, err
	}
	taken, ok := e.Fact.(sia.MemoryCommitted)
	return ok && taken.SHA != "", nil
}

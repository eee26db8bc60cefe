package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// ErrCancelled is the cause with which the context of a running handler ends
// when its effect is cancelled: errors.Is(context.Cause(ctx), ErrCancelled).
var ErrCancelled error = river.ErrJobCancelledRemotely

// CancelEffect cancels an effect. If its handler is running, in any process,
// the handler's context ends within about 50 ms, and its result is
// still applied. If the effect is waiting, its outcome is that it was stopped,
// without a run, unless it is an attempt with saved turns: its handler then runs
// once more, with a context that has ended. If the effect has ended, nothing
// happens. The error wraps [ErrNotFound] when there is no such effect.
func (s *TaskStore) CancelEffect(ctx context.Context, key string) error {
	return s.write(ctx, "cancel effect "+key, func(tx *sql.Tx) error { return s.cancelEffect(ctx, tx, key) })
}

// cancelEffect is [TaskStore.CancelEffect] inside a transaction.
func (s *DB) cancelEffect(ctx context.Context, tx *sql.Tx, key string) error {
	var state EffectState
	var job int64
	err := tx.QueryRowContext(ctx, `UPDATE effects
		SET cancelled = CASE WHEN state = 'pending' THEN 1 ELSE cancelled END
		WHERE key = ? RETURNING state, job_id`, key).Scan(&state, &job)
	if err != nil || state != EffectPending {
		return orNotFound(err)
	}
	row, err := s.jobs.JobCancelTx(ctx, tx, job)
	switch {
	case err != nil && !errors.Is(err, rivertype.ErrNotFound):
		return err
	case err == nil && row.State == rivertype.JobStateRunning:
		return nil // River cancels its worker's context
	}
	// The waiting job, which may have been queued behind long attempts, is gone. The outcome still has to be applied.
	return s.insertJob(ctx, tx, key, queueEffects, s.now())
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// ErrCancelled is the cause with which the context of a running handler ends
// when its effect is cancelled: errors.Is(context.Cause(ctx), ErrCancelled).
var ErrCancelled error = river.ErrJobCancelledRemotely

// CancelEffect has an effect stopped. When its handler runs, in whatever
// process, the handler's context ends within about 50 ms, and what it returns is
// still applied. When the effect waits, it reports that it was stopped without
// running. When it has reported already, nothing happens. The error wraps
// [ErrNotFound] when there is no such effect.
func (s *Store) CancelEffect(ctx context.Context, key string) error {
	return s.write(ctx, "cancel effect "+key, func(tx *sql.Tx) error {
		var state EffectState
		var job int64
		err := tx.QueryRowContext(ctx, `UPDATE effects
			SET cancelled = CASE WHEN state = 'pending' THEN 1 ELSE cancelled END
			WHERE key = ? RETURNING state, job_id`, key).Scan(&state, &job)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil || state != EffectPending {
			return err
		}
		// A worker that takes the job after this transaction sees the mark; one
		// that took it before is told.
		jobState, queue, err := jobOf(ctx, tx, job, key)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return fmt.Errorf("its job is gone: %w", ErrNotFound)
		case err != nil:
			return err
		case jobState == string(rivertype.JobStateRunning):
			return notifyCancel(ctx, tx, job, queue)
		default: // behind long attempts it might wait long
			s.filled = append(s.filled, queueEffects)
			return wakeJob(ctx, tx, job, queueEffects, s.now())
		}
	})
}

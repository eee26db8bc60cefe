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

// CancelEffect has an effect stopped. When its handler runs, in whatever
// process, the handler's context ends within about 50 ms, and what it returns is
// still applied. When the effect waits, it reports that it was stopped without
// running. When it has reported already, nothing happens. The error wraps
// [ErrNotFound] when there is no such effect.
func (s *TaskStore) CancelEffect(ctx context.Context, key string) error {
	return s.write(ctx, "cancel effect "+key, func(tx *sql.Tx) error {
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
			return nil // River ends its worker's context
		}
		// The job that waited, perhaps behind long attempts, is gone. The effect still has to report.
		return s.insertJob(ctx, tx, key, queueEffects, s.now())
	})
}

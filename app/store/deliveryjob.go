package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/riverqueue/river"

	"github.com/sia-bot/sia/sia"
)

// deliveryWorker has deliveries worked on.
type deliveryWorker struct {
	river.WorkerDefaults[deliveryArgs]
	e *Engine
}

// NextRetry is for what is not counted as a try: a crash.
func (w *deliveryWorker) NextRetry(*river.Job[deliveryArgs]) time.Time {
	return w.e.s.now().Add(w.e.c.Backoff(1))
}

// Work implements river.Worker.
func (w *deliveryWorker) Work(ctx context.Context, job *river.Job[deliveryArgs]) error {
	d, err := w.e.s.delivery(ctx, job.Args.GUID)
	switch {
	case errors.Is(err, ErrNotFound), err == nil && d.state != "pending":
		return nil
	case err != nil:
		return w.later(ctx, job, err, w.e.c.Backoff(1))
	}
	tries := d.tries + job.Attempt
	if tries > w.e.c.Tries { // see effectWorker.Work
		return w.finish(ctx, job, "failed", errors.New("the process ended each time it was worked on"))
	}
	if err = w.call(ctx, d.Delivery); err == nil {
		return w.finish(ctx, job, "done", nil)
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("delivery %s was interrupted: %w", d.GUID, context.Canceled)
	case sia.WaitsTurn(err):
		job.Attempt--
		return w.later(ctx, job, err, sia.RetryAfter(err))
	case sia.IsPermanent(err), tries >= w.e.c.Tries:
		return w.finish(ctx, job, "failed", err)
	default:
		return w.later(ctx, job, err, max(w.e.c.Backoff(tries), sia.RetryAfter(err)))
	}
}

func (w *deliveryWorker) call(ctx context.Context, d Delivery) (err error) {
	ctx, cancel := context.WithTimeout(ctx, w.e.c.DeliveryTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			w.e.s.log.ErrorContext(ctx, "handler panicked", "delivery", d.GUID, "event", d.Event, "panic", p, "stack",
				string(debug.Stack()))
			err = fmt.Errorf("work on delivery %s: panic: %v", d.GUID, p)
		}
	}()
	return w.e.h.Delivery(ctx, d)
}

// finish closes the delivery. River completes the job afterwards, many at a time:
// a job that a crash leaves behind finds its delivery closed.
func (w *deliveryWorker) finish(ctx context.Context, job *river.Job[deliveryArgs], state string, cause error) error {
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	words := ""
	if cause != nil {
		words = forPeople(cause)
		w.e.s.log.ErrorContext(ctx, "delivery given up", "delivery", job.Args.GUID, "err", cause)
	}
	err := w.e.s.exec(saving, "close delivery "+job.Args.GUID,
		`UPDATE deliveries SET state = ?, error = ? WHERE guid = ?`, state, words, job.Args.GUID)
	if err != nil {
		return w.later(ctx, job, err, w.e.c.Backoff(1))
	}
	return nil
}

func (w *deliveryWorker) later(
	ctx context.Context, job *river.Job[deliveryArgs], cause error, delay time.Duration,
) error {
	s := w.e.s
	s.log.WarnContext(ctx, "delivery is tried again", "delivery", job.Args.GUID, "in", delay, "err", cause)
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	err := s.write(saving, "count a failed try", func(tx *sql.Tx) error {
		if err := complete(saving, tx, job); err != nil {
			return err
		}
		if _, err := tx.ExecContext(saving, `UPDATE deliveries SET tries = tries + ?, error = ? WHERE guid = ?`,
			job.Attempt, forPeople(cause), job.Args.GUID); err != nil {
			return err
		}
		_, err := s.insert(saving, tx, job.Args, queueDeliveries, s.now().Add(delay))
		return err
	})
	if err != nil {
		s.log.ErrorContext(ctx, "failed try not counted", "delivery", job.Args.GUID, "err", err)
		return river.JobSnooze(delay)
	}
	return nil
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"github.com/sia-bot/sia/sia"
)

// deliveriesWorker processes the deliveries of a job: those that were saved together, or one.
type deliveriesWorker struct {
	river.WorkerDefaults[deliveriesArgs]
	e *Engine
}

// Work implements river.Worker. Deliveries that are not finished when it returns, because the engine stops or an error
// occurs, continue in jobs of their own. So do all of them after a crash, so that the delivery that caused it affects
// no other.
func (w *deliveriesWorker) Work(ctx context.Context, job *river.Job[deliveriesArgs]) error {
	guids := job.Args.GUIDs
	if len(guids) > 1 && job.Attempt > 1 {
		return w.split(ctx, job, guids)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var left []string
	leave := func(guids ...string) {
		mu.Lock()
		defer mu.Unlock()
		left = append(left, guids...)
	}
	own, done := w.e.deliverySlots.of(w.installation(job))
	defer done()
	for i, guid := range guids {
		free, ok := w.e.takeSlot(ctx, own)
		if !ok {
			leave(guids[i:]...)
			break
		}
		all.Go(func() {
			later, err := w.e.deliver(ctx, guid, job.Attempt, free)
			if err == nil && later != nil {
				err = w.retryLater(ctx, job, *later)
			}
			if err != nil {
				leave(guid)
			}
		})
	}
	all.Wait()
	switch {
	case len(left) == 0:
		return nil
	case len(guids) > 1:
		return w.split(ctx, job, left)
	case ctx.Err() != nil:
		return fmt.Errorf("delivery %s was interrupted: %w", guids[0], context.Canceled)
	}
	return river.JobSnooze(w.e.c.Backoff(1))
}

// installation returns the installation of a running job's deliveries; 0 for a job of a version without lanes.
func (w *deliveriesWorker) installation(job *river.Job[deliveriesArgs]) int64 {
	return w.e.shares[queueDeliveries].lane(job.ID).installation
}

// split inserts a job for each of the given deliveries that is still pending, and completes the common job.
func (w *deliveriesWorker) split(ctx context.Context, job *river.Job[deliveriesArgs], guids []string) error {
	s := w.e.s
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	return s.write(saving, "give each delivery a job of its own", func(tx *sql.Tx) error {
		pending, err := collect(saving, tx, scanValue[string], `SELECT guid FROM deliveries
			WHERE state = 'pending' AND tries = 0 AND guid `+s.inList(texts)+` ORDER BY id`, jsonArray[string](guids))
		if err != nil {
			return err
		}
		var jobs []river.InsertManyParams
		for _, guid := range pending {
			jobs = append(jobs, deliveryJob(w.installation(job), guid))
		}
		if err := s.insertDeliveryJobs(saving, tx, jobs); err != nil {
			return err
		}
		return complete(saving, tx, job)
	})
}

// deliveryRetry is a delivery that is retried.
type deliveryRetry struct {
	guid  string
	tries int // number of tries to add
	cause error
	delay time.Duration
}

// maxNewerDelay is the maximum delay between two tries of a delivery about a task that a newer version changed.
const maxNewerDelay = 10 * time.Minute

// deliver processes a delivery in a slot that the caller has taken, and frees the slot with free, which may be called
// twice. attempt is the job's, from 1: after all but the last, the process died. later is nil when the delivery is
// finished. The error is set only when the engine stops.
func (e *Engine) deliver(
	ctx context.Context, guid string, attempt int, free func(),
) (later *deliveryRetry, err error) {
	defer free()
	done, err := e.pace.turn(ctx)
	if err != nil {
		return nil, fmt.Errorf("delivery %s was interrupted: %w", guid, context.Canceled)
	}
	defer done()
	again := func(tries int, cause error, delay time.Duration) (*deliveryRetry, error) {
		return &deliveryRetry{guid, tries, cause, delay}, nil
	}
	d, err := e.s.delivery(ctx, guid)
	switch {
	case errors.Is(err, ErrNotFound), err == nil && d.state != "pending":
		return nil, nil
	case err != nil:
		return again(attempt, err, e.c.Backoff(1))
	}
	tries := d.tries + attempt
	if tries > e.c.OutageTries || attempt > e.c.Tries { // see effectWorker.carryOut
		err = &sia.Error{Permanent: true, Message: "the process ended each time it was worked on"}
	} else if err = e.callDelivery(ctx, d.Delivery); err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("delivery %s was interrupted: %w", guid, context.Canceled)
	}
	closed := closedDelivery{guid: guid, state: "done"}
	switch {
	case err == nil:
	case errors.Is(err, errNewerTask): // each try may send requests to GitHub
		return again(attempt-1, err, max(unknownKindDelay, min(e.s.now().Sub(d.Received), maxNewerDelay)))
	case sia.WaitsTurn(err):
		return again(attempt-1, err, sia.RetryAfter(err))
	case e.c.givesUp(tries, err):
		closed.state, closed.words = "failed", userMessage(err)
		e.s.log.ErrorContext(ctx, "delivery given up", "delivery", guid, "err", err)
	default:
		return again(attempt, err, max(e.c.Backoff(tries), sia.RetryAfter(err)))
	}
	done()
	free()
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	if err := e.s.closings.do(saving, closed); err != nil {
		return again(attempt, err, e.c.Backoff(1))
	}
	return nil, nil
}

// callDelivery calls the handler, with its timeout.
func (e *Engine) callDelivery(ctx context.Context, d Delivery) (err error) {
	ctx, cancel := context.WithTimeout(ctx, e.c.DeliveryTimeout)
	defer cancel()
	defer e.s.recoverPanic(ctx, "work on delivery "+d.GUID, &err)
	return e.h.Delivery(ctx, d)
}

// closedDelivery is a finished delivery with its state, "done" or "failed", and the reason of a failure.
type closedDelivery struct{ guid, state, words string }

// closeDeliveries closes deliveries. River completes their jobs afterwards in batches: a job that a crash leaves
// behind finds its deliveries closed.
func (s *DeliveryStore) closeDeliveries(ctx context.Context, all []closedDelivery) error {
	var done jsonArray[string]
	var failed []closedDelivery
	for _, d := range all {
		if d.state == "done" {
			done = append(done, d.guid)
		} else {
			failed = append(failed, d)
		}
	}
	return s.write(ctx, "close deliveries", func(tx *sql.Tx) error {
		if len(done) > 0 {
			if _, err := tx.ExecContext(ctx, `UPDATE deliveries SET state = 'done', error = ''
				WHERE guid `+s.inList(texts), done); err != nil {
				return err
			}
		}
		for _, d := range failed {
			if _, err := tx.ExecContext(ctx, `UPDATE deliveries SET state = ?, error = ? WHERE guid = ?`, d.state, d.words,
				d.guid); err != nil {
				return err
			}
		}
		return nil
	})
}

// retryLater records a try and inserts the job for the next one, which replaces the current job if that has no other
// delivery.
func (w *deliveriesWorker) retryLater(ctx context.Context, job *river.Job[deliveriesArgs], l deliveryRetry) error {
	s := w.e.s
	s.log.WarnContext(ctx, "delivery is tried again", "delivery", l.guid, "in", l.delay, "err", l.cause)
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	err := s.write(saving, "count a failed try", func(tx *sql.Tx) error {
		if len(job.Args.GUIDs) == 1 {
			if err := complete(saving, tx, job); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(saving, `UPDATE deliveries SET tries = tries + ?, error = ? WHERE guid = ?`,
			l.tries, userMessage(l.cause), l.guid); err != nil {
			return err
		}
		_, err := s.insert(saving, tx, deliveriesArgs{[]string{l.guid}}, deliveryLane(w.installation(job)),
			s.now().Add(l.delay))
		return err
	})
	if err != nil {
		s.log.ErrorContext(ctx, "failed try not counted", "delivery", l.guid, "err", err)
	}
	return err
}

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
	"github.com/sia-bot/sia/sia/text"
)

// effectArgs is the job that carries out an effect.
type effectArgs struct {
	Key string `json:"key"`
}

// Kind names the job for River.
func (effectArgs) Kind() string { return "effect" }

// effectWorker carries out effects and applies their outcomes.
type effectWorker struct {
	river.WorkerDefaults[effectArgs]
	e *Engine
}

// NextRetry is for what is not counted as a try: a crash.
func (w *effectWorker) NextRetry(*river.Job[effectArgs]) time.Time {
	return w.e.s.now().Add(w.e.c.Backoff(1))
}

// Work implements river.Worker.
func (w *effectWorker) Work(ctx context.Context, job *river.Job[effectArgs]) error {
	e, key := w.e, job.Args.Key
	f, err := e.s.Effect(ctx, key)
	switch {
	case errors.Is(err, ErrNotFound):
		e.s.log.WarnContext(ctx, "job of an effect that does not exist", "effect", key)
		return nil
	case err != nil && interrupted(ctx):
		return fmt.Errorf("effect %s was interrupted: %w", key, context.Canceled)
	case err != nil:
		return w.later(ctx, job, err, e.c.Backoff(1), 0)
	}
	if f.State != EffectPending {
		return nil
	}
	if f.Cancelled {
		return w.finish(ctx, job, f, cancelledFact(f.Effect), ErrCancelled)
	}
	// River counts the times that a job was begun and neither put off nor
	// interrupted: beyond the first, the process died.
	tries := f.Tries + job.Attempt
	if tries > e.c.Tries {
		err := &sia.Error{Op: "carry out " + key, Message: "SIA's process ended each time it tried; its log tells why"}
		return w.finish(ctx, job, f, failedFact(f.Effect, err), err)
	}
	fact, err := w.run(ctx, f.Effect)
	return w.report(ctx, job, f, tries, fact, err)
}

// run calls the handler, with the context that it is promised.
func (w *effectWorker) run(ctx context.Context, f sia.Effect) (sia.Fact, error) {
	t, err := w.e.s.Task(ctx, f.Task)
	if err != nil {
		return nil, err
	}
	timeout := w.e.c.EffectTimeout
	if f.Kind.Long() || f.Kind.RunsTests() {
		timeout = w.e.c.AttemptTimeout(t)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout,
		fmt.Errorf("took longer than %s: %w", timeout, context.DeadlineExceeded))
	defer cancel()

	if w.e.h.Boundary != nil {
		w.e.h.Boundary(ctx, "before", f)
	}
	fact, err := w.call(ctx, t, f)
	if w.e.h.Boundary != nil {
		w.e.h.Boundary(ctx, "after", f)
	}
	if err != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		err = fmt.Errorf("%w (%w)", err, context.Cause(ctx))
	}
	return fact, err
}

// call makes an error of a handler's panic: an effect must report.
func (w *effectWorker) call(ctx context.Context, t sia.Task, f sia.Effect) (fact sia.Fact, err error) {
	defer func() {
		if p := recover(); p != nil {
			w.e.s.log.ErrorContext(ctx, "handler panicked", "task", f.Task, "effect", f.Key, "panic", p, "stack",
				string(debug.Stack()))
			err = &sia.Error{Op: "carry out " + f.Key, Message: "a mistake in SIA kept it from going on; its log has the " +
				"details, please report it", Err: fmt.Errorf("panic: %v", p)}
		}
	}()
	return w.e.h.Effect(ctx, t, f)
}

// report decides what a try's end means.
func (w *effectWorker) report(
	ctx context.Context, job *river.Job[effectArgs], f EffectRecord, tries int, fact sia.Fact, err error,
) error {
	switch {
	case err == nil && fact == nil:
		return w.finish(ctx, job, f, sia.Done{}, nil)
	case err == nil:
		return w.finish(ctx, job, f, fact, nil)
	case errors.Is(context.Cause(ctx), ErrCancelled):
		return w.finish(ctx, job, f, cancelledFact(f.Effect), ErrCancelled)
	case interrupted(ctx): // the engine stops: River makes the job available again
		return fmt.Errorf("effect %s was interrupted: %w", f.Key, context.Canceled)
	case sia.IsPermanent(err), tries >= w.e.c.Tries:
		return w.finish(ctx, job, f, failedFact(f.Effect, err), err)
	default:
		return w.later(ctx, job, err, max(w.e.c.Backoff(tries), sia.RetryAfter(err)), 1)
	}
}

// finish writes an outcome down. While the database is in trouble, such as a
// full disk, it keeps the outcome and goes on trying, so that work of half an
// hour is not lost to it.
func (w *effectWorker) finish(
	ctx context.Context, job *river.Job[effectArgs], f EffectRecord, fact sia.Fact, cause error,
) error {
	s := w.e.s
	if cause != nil {
		s.log.WarnContext(ctx, "effect not carried out", "task", f.Task, "effect", f.Key, "err", cause)
	}
	for try := 1; ; try++ {
		err := w.save(ctx, job, f, fact)
		if err == nil {
			return nil
		}
		var trouble *sia.Error
		if !errors.As(err, &trouble) {
			return w.later(ctx, job, err, w.e.c.Backoff(f.Tries+1), 1)
		}
		if try == w.e.c.Tries || w.e.stopping.Err() != nil {
			return w.later(ctx, job, err, w.e.c.Backoff(1), 0)
		}
		s.log.ErrorContext(ctx, "outcome can't be written down yet", "task", f.Task, "effect", f.Key, "err", err)
		select {
		case <-time.After(w.e.c.Backoff(try)):
		case <-w.e.stopping.Done():
		}
	}
}

// save completes the job, closes the effect and applies its outcome, all or
// nothing. The context may have ended: what was done must be written down.
func (w *effectWorker) save(ctx context.Context, job *river.Job[effectArgs], f EffectRecord, fact sia.Fact) error {
	s := w.e.s
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	state, words := EffectDone, ""
	if failed, ok := fact.(sia.EffectFailed); ok {
		state, words = EffectFailed, failed.Reason
	}
	ev := sia.Event{ID: f.Key, At: s.now(), Effect: f.Key, Fact: fact}
	var res *sia.Result
	err := s.write(ctx, "write down the outcome of "+f.Key, func(tx *sql.Tx) error {
		if err := complete(ctx, tx, job); err != nil {
			return err
		}
		closed, err := tx.ExecContext(ctx, `UPDATE effects
			SET state = ?, error = CASE WHEN ? = '' THEN error ELSE ? END, ended_at = ?
			WHERE key = ? AND state = 'pending'`, state, words, words, micros(ev.At), f.Key)
		if err != nil {
			return err
		}
		if n, err := closed.RowsAffected(); err != nil || n == 0 {
			return err // it was closed before: its outcome counts, not this one
		}
		r, err := s.applyTx(ctx, tx, f.Task, ev)
		res = &r
		return err
	})
	if err == nil && res != nil {
		s.logApplied(ctx, f.Task, ev, *res)
	}
	return err
}

// later puts the effect off, and counts the failed tries. Another job takes this one's place: a job that River
// puts off is up to five seconds late, and River ends it for good when somebody cancels it at that moment.
func (w *effectWorker) later(
	ctx context.Context, job *river.Job[effectArgs], cause error, delay time.Duration, failed int,
) error {
	s, key := w.e.s, job.Args.Key
	s.log.WarnContext(ctx, "effect is tried again", "effect", key, "in", delay, "err", cause)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	err := s.write(ctx, "count a failed try", func(tx *sql.Tx) error {
		if err := complete(ctx, tx, job); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE effects SET tries = tries + ?, error = ? WHERE key = ?`,
			failed+job.Attempt-1, forPeople(cause), key); err != nil {
			return err
		}
		return s.insertJob(ctx, tx, key, job.Queue, s.now().Add(delay))
	})
	if err != nil {
		s.log.ErrorContext(ctx, "failed try not counted", "effect", key, "err", err)
		return river.JobSnooze(delay)
	}
	return nil
}

// interrupted reports whether a job's context ended because the engine stops.
func interrupted(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), ErrCancelled)
}

// saveTimeout bounds what is written after a handler returned.
const saveTimeout = 30 * time.Second

func failedFact(f sia.Effect, err error) sia.Fact {
	return sia.EffectFailed{Effect: f.Kind, Reason: forPeople(err)}
}

// cancelledFact is the outcome of an effect that was stopped and said nothing.
func cancelledFact(f sia.Effect) sia.Fact {
	if f.Kind == sia.DoAttempt {
		return sia.AttemptEnded{End: sia.EndCancelled, Reason: "it was stopped"}
	}
	return sia.EffectFailed{Effect: f.Kind, Reason: "it was stopped"}
}

// forPeople is the message of a sia.Error, which is meant for people, and else
// the error's text, which may be long.
func forPeople(err error) string {
	var e *sia.Error
	words := err.Error()
	if errors.As(err, &e) && e.Message != "" {
		words = e.Message
	}
	return text.Clip(words, 1000)
}

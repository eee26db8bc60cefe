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

// Work implements river.Worker. The job is that of one effect and of those that join it, one after the other.
func (w *effectWorker) Work(ctx context.Context, job *river.Job[effectArgs]) error {
	next, err := w.first(ctx, job)
	for err == nil && next != nil {
		next, err = w.join(ctx, job, *next)
	}
	return err
}

// join carries out an effect that joins another, unless another job of this process does. It returns the next one.
func (w *effectWorker) join(ctx context.Context, job *river.Job[effectArgs], f sia.Effect) (*sia.Effect, error) {
	if _, busy := w.e.joined.LoadOrStore(f.Key, job.Args.Key); busy {
		return nil, nil
	}
	defer w.e.joined.Delete(f.Key)
	fact, err := w.run(ctx, f)
	return w.report(ctx, job, EffectRecord{Effect: f, State: EffectPending}, 1, fact, err)
}

// first carries out the effect that the job is for. It returns the one that joins it.
func (w *effectWorker) first(ctx context.Context, job *river.Job[effectArgs]) (*sia.Effect, error) {
	e, key := w.e, job.Args.Key
	f, err := e.s.Effect(ctx, key)
	switch {
	case errors.Is(err, ErrNotFound):
		e.s.log.WarnContext(ctx, "job of an effect that does not exist", "effect", key)
		return nil, nil
	case err != nil && interrupted(ctx):
		return nil, fmt.Errorf("effect %s was interrupted: %w", key, context.Canceled)
	case err != nil:
		return nil, w.later(ctx, job, key, err, e.c.Backoff(1), 0)
	}
	if f.State != EffectPending {
		return e.s.leftJoined(ctx, f.Task)
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

// leftJoined is an effect of a task that joined another, when the job of that one was put off in between; nil: there is
// none.
func (s *TaskStore) leftJoined(ctx context.Context, id sia.TaskID) (*sia.Effect, error) {
	left, err := collect(ctx, s.r, scanJSON[sia.Effect],
		`SELECT effect FROM effects WHERE task_id = ? AND state = 'pending' AND job_id = 0`, id)
	if err != nil || len(left) == 0 {
		return nil, s.explain("look for what was left of task "+string(id), err)
	}
	return &left[0], nil
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
) (joined *sia.Effect, _ error) {
	switch {
	case err == nil && fact == nil:
		return w.finish(ctx, job, f, sia.Done{}, nil)
	case err == nil:
		return w.finish(ctx, job, f, fact, nil)
	case errors.Is(context.Cause(ctx), ErrCancelled):
		return w.finish(ctx, job, f, cancelledFact(f.Effect), ErrCancelled)
	case interrupted(ctx): // the engine stops: River makes the job available again
		return nil, fmt.Errorf("effect %s was interrupted: %w", f.Key, context.Canceled)
	case sia.IsPermanent(err), tries >= w.e.c.Tries:
		return w.finish(ctx, job, f, failedFact(f.Effect, err), err)
	default:
		return nil, w.later(ctx, job, f.Key, err, max(w.e.c.Backoff(tries), sia.RetryAfter(err)), 1)
	}
}

// finish writes an outcome down. While the database is in trouble, such as a
// full disk, it keeps the outcome and goes on trying, so that work of half an
// hour is not lost to it.
func (w *effectWorker) finish(
	ctx context.Context, job *river.Job[effectArgs], f EffectRecord, fact sia.Fact, cause error,
) (joined *sia.Effect, _ error) {
	s := w.e.s
	if cause != nil {
		s.log.WarnContext(ctx, "effect not carried out", "task", f.Task, "effect", f.Key, "err", cause)
	}
	for try := 1; ; try++ {
		joined, err := w.save(ctx, job, f, fact)
		if err == nil {
			return joined, nil
		}
		var trouble *sia.Error
		if !errors.As(err, &trouble) {
			return nil, w.later(ctx, job, f.Key, err, w.e.c.Backoff(f.Tries+1), 1)
		}
		if try == w.e.c.Tries || w.e.stopping.Err() != nil {
			return nil, w.later(ctx, job, f.Key, err, w.e.c.Backoff(1), 0)
		}
		s.log.ErrorContext(ctx, "outcome can't be written down yet", "task", f.Task, "effect", f.Key, "err", err)
		select {
		case <-time.After(w.e.c.Backoff(try)):
		case <-w.e.stopping.Done():
		}
	}
}

// save closes the effect, applies its outcome and completes the job, unless an effect joins: all or nothing. The
// context may have ended: what was done must be written down.
func (w *effectWorker) save(
	ctx context.Context, job *river.Job[effectArgs], f EffectRecord, fact sia.Fact,
) (joined *sia.Effect, _ error) {
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
		res, joined = nil, nil
		closed, err := tx.ExecContext(ctx, `UPDATE effects
			SET state = ?, error = CASE WHEN ? = '' THEN error ELSE ? END, ended_at = ?
			WHERE key = ? AND state = 'pending'`, state, words, words, micros(ev.At), f.Key)
		if err != nil {
			return err
		}
		n, err := closed.RowsAffected()
		if err == nil && n > 0 { // else it was closed before: its outcome counts, not this one
			var r sia.Result
			r, err = s.applyTx(ctx, tx, f.Task, ev, &joined)
			res = &r
		}
		if err != nil || joined != nil {
			return err
		}
		return complete(ctx, tx, job)
	})
	if err != nil {
		return nil, err
	}
	if res != nil {
		s.logApplied(ctx, f.Task, ev, *res)
	}
	return joined, nil
}

// later puts the effect off, and counts the failed tries. Another job takes this one's place: a job that River
// puts off is up to five seconds late, and River ends it for good when somebody cancels it at that moment.
func (w *effectWorker) later(
	ctx context.Context, job *river.Job[effectArgs], key string, cause error, delay time.Duration, failed int,
) error {
	s := w.e.s
	s.log.WarnContext(ctx, "effect is tried again", "effect", key, "in", delay, "err", cause)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	queue, crashed := queueEffects, 0 // of what joined another effect
	if key == job.Args.Key {
		queue, crashed = job.Queue, job.Attempt-1
	}
	err := s.write(ctx, "count a failed try", func(tx *sql.Tx) error {
		if err := complete(ctx, tx, job); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE effects SET tries = tries + ?, error = ? WHERE key = ?`,
			failed+crashed, forPeople(cause), key); err != nil {
			return err
		}
		return s.insertJob(ctx, tx, key, queue, s.now().Add(delay))
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

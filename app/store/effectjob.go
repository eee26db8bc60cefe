package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// errStopping is the cause with which the contexts of long effects are canceled when the engine stops.
var errStopping = errors.New("this server stops; the effect goes on on another, or when this one is started again")

// errUnknownKind is the reason why an effect of an unknown kind waits.
var errUnknownKind = errors.New("this version of SIA does not know this kind of effect: it waits for a newer one")

// unknownKindDelay is the delay before any server looks again at an effect of an unknown kind, or of a task that a
// newer version changed.
const unknownKindDelay = 5 * time.Second

// effectArgs has the arguments of the job that carries out an effect.
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

// Work implements river.Worker. It carries out one effect and then those that join it.
func (w *effectWorker) Work(ctx context.Context, job *river.Job[effectArgs]) error {
	held, err := w.begin(ctx, job)
	for err == nil && held != nil {
		held, err = w.carryOut(ctx, job, held)
	}
	return err
}

// begin takes the lease of the job's effect or, if that has ended, of one that joined it. Nil: there is nothing to do.
func (w *effectWorker) begin(ctx context.Context, job *river.Job[effectArgs]) (*heldLease, error) {
	e, key := w.e, job.Args.Key
	held, f, until, err := e.take(ctx, key, key)
	if err == nil && f.State != EffectPending {
		held, err = w.takeJoined(ctx, f.Task, key)
	}
	switch {
	case errors.Is(err, ErrNotFound):
		e.s.log.WarnContext(ctx, "job of an effect that does not exist", "task", taskOf(key), "effect", key)
		return nil, nil
	case err != nil && interrupted(ctx):
		return nil, fmt.Errorf("effect %s was interrupted: %w", key, context.Canceled)
	case err != nil:
		e.s.log.ErrorContext(ctx, "effect not begun", "task", taskOf(key), "effect", key, "err", err)
		return nil, river.JobSnooze(e.c.Backoff(1))
	case held == nil && f.State == EffectPending:
		return nil, w.waitForLease(ctx, job, until)
	}
	return held, nil
}

// takeJoined takes the lease of a pending effect that joined another one and so has no job of its own, which happens
// when the job was postponed in between; nil: there is none, or another run has it.
func (w *effectWorker) takeJoined(ctx context.Context, id sia.TaskID, job string) (*heldLease, error) {
	key, err := load(ctx, w.e.s.DB, "look for what was left of task "+string(id), scanValue[string], `SELECT key
		FROM effects WHERE task_id = ? AND state = 'pending' AND job_id = 0 LIMIT 1`, id)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	held, _, _, err := w.e.take(ctx, key, job)
	return held, err
}

// carryOut carries out an effect, and returns the run of the effect that joins it, if any.
func (w *effectWorker) carryOut(ctx context.Context, job *river.Job[effectArgs], held *heldLease) (*heldLease, error) {
	defer held.end()
	f := held.f
	if !f.Kind.Known() {
		return nil, w.postpone(ctx, job, held, errUnknownKind, unknownKindDelay, 0)
	}
	tries := f.Tries + 1
	if f.Key == job.Args.Key {
		// River counts the starts of a job that were neither snoozed nor
		// interrupted: after each start but the last, the process died.
		tries = f.Tries + job.Attempt
	}
	if f.Cancelled {
		return w.finish(ctx, job, held, w.cancelled(held, tries), ErrCancelled)
	}
	if tries > w.e.c.OutageTries || f.Key == job.Args.Key && job.Attempt > w.e.c.Tries {
		err := &sia.Error{Op: "carry out " + f.Key, Message: "SIA's process ended each time it tried; its log tells why"}
		return w.finish(ctx, job, held, w.failed(ctx, f.Effect, err), err)
	}
	if f.Kind.Long() || f.Kind.RunsTests() {
		if err := held.recordMirror(ctx); err != nil {
			w.e.s.log.WarnContext(ctx, "the repository's server was not noted", "task", f.Task, "effect", f.Key, "err", err)
		}
		if w.e.stopping.Err() != nil { // River started the job again before it was stopped itself
			return nil, w.postpone(ctx, job, held, errStopping, 0, 0)
		}
		defer context.AfterFunc(w.e.stopping, func() { held.cancel(errStopping) })()
	}
	fact, err := w.run(context.WithValue(held.ctx, lastTry{}, tries >= w.e.c.Tries), f.Effect)
	return w.handleResult(ctx, job, held, tries, fact, err)
}

// lastTry is the context key of the value that LastTry returns.
type lastTry struct{}

// LastTry reports whether the effect of a handler's context is given up when the handler returns an error, unless that
// is an outage.
func LastTry(ctx context.Context) bool {
	last, _ := ctx.Value(lastTry{}).(bool)
	return last
}

// run calls the handler with the timeout of the effect's kind.
func (w *effectWorker) run(ctx context.Context, f sia.Effect) (sia.Fact, error) {
	reading, end := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout) // see cancelled
	t, err := taskToChange(reading, w.e.s.r, f.Task)
	end()
	if err != nil {
		return nil, w.e.s.explain("load task "+string(f.Task), err)
	}
	timeout := w.e.c.EffectTimeout
	switch {
	case f.Kind.Long() || f.Kind.RunsTests():
		timeout = w.e.c.AttemptTimeout(t) + w.e.c.AttemptWait
	case f.Kind.Asks():
		timeout = w.e.c.AskTimeout
	case f.Kind.Fetches():
		timeout = w.e.c.FetchTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout,
		fmt.Errorf("took longer than %s: %w", timeout, context.DeadlineExceeded))
	defer cancel()

	w.e.h.Boundary(ctx, "before", f)
	fact, err := w.call(ctx, t, f)
	w.e.h.Boundary(ctx, "after", f)
	if cause := context.Cause(ctx); err != nil && !errors.Is(err, cause) &&
		(errors.Is(cause, context.DeadlineExceeded) || errors.Is(cause, ErrLeaseLost)) {
		err = fmt.Errorf("%w (%w)", err, cause)
	}
	return fact, err
}

func (w *effectWorker) call(ctx context.Context, t sia.Task, f sia.Effect) (fact sia.Fact, err error) {
	defer w.e.s.recoverPanic(ctx, "carry out "+f.Key, &err)
	return w.e.h.Effect(ctx, t, f)
}

// recoverPanic converts a panic of a handler into an error. It must be deferred.
func (s *DB) recoverPanic(ctx context.Context, op string, err *error) {
	if p := recover(); p != nil {
		s.log.ErrorContext(ctx, "handler panicked", "op", op, "panic", p, "stack", string(debug.Stack()))
		*err = &sia.Error{Op: op, Err: fmt.Errorf("panic: %v", p),
			Message: "a mistake in SIA kept it from going on; its log has the details, please report it"}
	}
}

// handleResult handles the result of a try. Its writes take effect only while the lease is held, see saveOutcome and
// postpone.
func (w *effectWorker) handleResult(
	ctx context.Context, job *river.Job[effectArgs], held *heldLease, tries int, fact sia.Fact, err error,
) (joined *heldLease, _ error) {
	switch {
	case err == nil && fact == nil:
		return w.finish(ctx, job, held, sia.Done{}, nil)
	case err == nil:
		return w.finish(ctx, job, held, fact, nil)
	case errors.Is(context.Cause(held.ctx), ErrCancelled):
		return w.finish(ctx, job, held, w.cancelled(held, tries), ErrCancelled)
	case errors.Is(context.Cause(held.ctx), errStopping):
		return nil, w.postpone(ctx, job, held, errStopping, 0, 0)
	case interrupted(ctx): // the engine stops: River makes the job available again
		held.release(ctx)
		return nil, fmt.Errorf("effect %s was interrupted: %w", held.key, context.Canceled)
	case errors.Is(err, errNewerTask):
		return nil, w.postpone(ctx, job, held, err, unknownKindDelay, 0)
	case sia.WaitsTurn(err):
		w.e.s.postponeWrites(ctx, held.f.Task)
		return nil, w.postpone(ctx, job, held, err, sia.RetryAfter(err), 0)
	case w.e.c.givesUp(tries, err):
		return w.finish(ctx, job, held, w.failed(ctx, held.f.Effect, err), err)
	default:
		if tries == w.e.c.Tries {
			w.reportDelay(ctx, held.f.Effect, err)
		}
		return nil, w.postpone(ctx, job, held, err, max(w.e.c.Backoff(tries), sia.RetryAfter(err)), 1)
	}
}

// reportDelay reports to the task that an outage delays an effect.
func (w *effectWorker) reportDelay(ctx context.Context, f sia.Effect, cause error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	_, err := w.e.s.Apply(ctx, f.Task, sia.Event{ID: f.Key + "/delayed", At: w.e.s.now(), Fact: sia.EffectDelayed{
		Key: f.Key, Effect: f.Kind, Reason: userMessage(cause)}})
	if err != nil {
		w.e.s.log.WarnContext(ctx, "delay not reported", "task", f.Task, "effect", f.Key, "err", err)
	}
}

// finish saves an outcome. While the database rejects writes, such as with a
// full disk, it retries, so that the result of a long effect is not lost.
func (w *effectWorker) finish(
	ctx context.Context, job *river.Job[effectArgs], held *heldLease, fact sia.Fact, cause error,
) (joined *heldLease, _ error) {
	s, f := w.e.s, held.f
	if cause != nil {
		s.log.WarnContext(ctx, "effect not carried out", "task", f.Task, "effect", f.Key, "err", cause)
	}
	for try := 1; ; try++ {
		joined, err := w.saveOutcome(ctx, job, held, fact)
		if err == nil {
			return joined, nil
		}
		var trouble *sia.Error
		if errors.Is(err, errNewerTask) {
			return nil, w.postpone(ctx, job, held, err, unknownKindDelay, 0)
		}
		if !errors.As(err, &trouble) {
			return nil, w.postpone(ctx, job, held, err, w.e.c.Backoff(f.Tries+1), 1)
		}
		if try == w.e.c.Tries || w.e.stopping.Err() != nil {
			return nil, w.postpone(ctx, job, held, err, w.e.c.Backoff(1), 0)
		}
		s.log.ErrorContext(ctx, "outcome can't be written down yet", "task", f.Task, "effect", f.Key, "err", err)
		select {
		case <-time.After(w.e.c.Backoff(try)):
		case <-w.e.stopping.Done():
		}
	}
}

// saveOutcome closes the effect, applies its outcome and completes the job, or takes the lease of the effect that
// joins, in one transaction. It changes nothing when another run took the effect over. It ignores the end of ctx,
// because a finished outcome must be saved.
func (w *effectWorker) saveOutcome(
	ctx context.Context, job *river.Job[effectArgs], held *heldLease, fact sia.Fact,
) (joined *heldLease, _ error) {
	s, f := w.e.s, held.f
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	state, words := EffectDone, ""
	if failed, ok := fact.(sia.EffectFailed); ok {
		state, words = EffectFailed, failed.Reason
	}
	ev := sia.Event{ID: f.Key, At: s.now(), Effect: f.Key, Fact: fact}
	var res *sia.Result
	began := time.Now()
	err := s.write(saving, "write down the outcome of "+f.Key, func(tx *sql.Tx) error {
		if joined != nil { // a retry: the lease of the previous try was rolled back
			joined.end()
		}
		res, joined = nil, nil
		// First the task, then its effects, as Apply does: else the two block one another.
		if err := s.advisoryLock(saving, tx, taskLock(f.Task)); err != nil {
			return err
		}
		n, err := affected(saving, tx, `UPDATE effects
			SET state = ?, error = CASE WHEN ? = '' THEN error ELSE ? END, ended_at = ?
			WHERE key = ? AND state = 'pending' AND lease_token = ?`, state, words, words, micros(ev.At), f.Key, held.token)
		var next *sia.Effect
		if err == nil && n > 0 { // else another run took the effect over, and this outcome is dropped
			var r sia.Result
			r, err = s.applyTx(saving, tx, f.Task, ev, &next)
			res = &r
		}
		if err != nil {
			return err
		}
		if next == nil {
			return complete(saving, tx, job)
		}
		joined = w.e.newLease(ctx, next.Key, job.Args.Key)
		w.e.register(joined) // created in this transaction, so no other run has it
		return joined.takeTx(saving, tx)
	})
	if joined != nil {
		joined.activate(began, err)
	}
	switch {
	case err != nil:
		return nil, err
	case res == nil:
		logOutcomeDropped(ctx, s.log, f.Key)
	default:
		s.logApplied(ctx, f.Task, ev, *res)
	}
	return joined, nil
}

// postpone postpones the effect and counts the failed tries, unless another run has the lease. It replaces the job by a
// new one, because a job that River snoozes is up to five seconds late, and is lost when it is cancelled at that
// moment.
func (w *effectWorker) postpone(
	ctx context.Context, job *river.Job[effectArgs], held *heldLease, cause error, delay time.Duration, failed int,
) error {
	s, key := w.e.s, held.key
	held.end()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	queue, crashed := queueEffects, 0 // for an effect that joined another
	if key == job.Args.Key {
		queue, crashed = job.Queue, job.Attempt-1
	}
	var mine int64
	err := s.write(ctx, "count a failed try", func(tx *sql.Tx) error {
		if err := complete(ctx, tx, job); err != nil {
			return err
		}
		n, err := affected(ctx, tx, `UPDATE effects SET tries = tries + ?, error = ?, lease_until = 0
			WHERE key = ? AND state = 'pending' AND lease_token = ?`, failed+crashed, userMessage(cause), key, held.token)
		if mine = n; err != nil || mine == 0 {
			return err
		}
		return s.insertJob(ctx, tx, key, queue, s.now().Add(delay))
	})
	switch {
	case err != nil:
		s.log.ErrorContext(ctx, "failed try not counted", "task", taskOf(key), "effect", key, "err", err)
		return river.JobSnooze(delay)
	case mine == 0:
		logOutcomeDropped(ctx, s.log, key)
	default:
		s.log.WarnContext(ctx, "effect is tried again", "task", taskOf(key), "effect", key, "in", delay, "err", cause)
	}
	return nil
}

// logOutcomeDropped logs that the outcome of a run was dropped.
func logOutcomeDropped(ctx context.Context, log *slog.Logger, key string) {
	log.WarnContext(ctx, "outcome dropped: another worker took the effect over", "task", taskOf(key), "effect", key)
}

// taskOf returns the task of an effect, with which its key begins.
func taskOf(key string) sia.TaskID {
	id, _, _ := strings.Cut(key, "/")
	return sia.TaskID(id)
}

// interrupted reports whether a job's context ended because the engine stops.
func interrupted(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), ErrCancelled)
}

// saveTimeout is the timeout of writes after a handler returned.
const saveTimeout = 30 * time.Second

// failed returns the outcome of an effect that was given up.
func (w *effectWorker) failed(ctx context.Context, f sia.Effect, err error) sia.Fact {
	return sia.EffectFailed{Effect: f.Kind, Reason: userMessage(err), Cost: w.spent(ctx, f).Cost, SHA: f.SHA, Part: f.Part}
}

// cancelled returns the outcome of an effect that was cancelled before it returned a result. For an attempt that has
// saved turns, it calls the handler once more, with a context that has ended, so that the handler commits the work.
func (w *effectWorker) cancelled(held *heldLease, tries int) sia.Fact {
	f := held.f.Effect
	if f.Kind != sia.DoAttempt {
		return sia.EffectFailed{Effect: f.Kind, Reason: "it was stopped"}
	}
	ended := w.spent(held.ctx, f)
	if ended.Turns > 0 && tries <= w.e.c.Tries { // else the process may have died each time
		held.cancel(ErrCancelled)
		fact, err := w.run(held.ctx, f)
		if err == nil && fact != nil {
			return fact
		}
		w.e.s.log.WarnContext(held.ctx, "work of a stopped attempt not committed", "task", f.Task, "effect", f.Key,
			"err", err)
	}
	ended.End, ended.Reason = sia.EndCancelled, "it was stopped"
	return ended
}

// spent returns the usage of an attempt without a result. It ignores the end of ctx.
func (w *effectWorker) spent(ctx context.Context, f sia.Effect) sia.AttemptEnded {
	if f.Kind != sia.DoAttempt || w.e.h.Spent == nil {
		return sia.AttemptEnded{}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	used, err := w.e.h.Spent(ctx, f)
	if err != nil {
		w.e.s.log.ErrorContext(ctx, "what an attempt spent is not known, and is not booked", "task", f.Task, "effect", f.Key,
			"err", err)
	}
	return used
}

// userMessage returns the user-facing message of a sia.Error, or else the
// error's text, in at most 1000 bytes.
func userMessage(err error) string {
	var e *sia.Error
	words := err.Error()
	if errors.As(err, &e) && e.Message != "" {
		words = e.Message
	}
	return text.Clip(words, 1000)
}

package runner

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

const (
	maxClaims    = 5                // maximum number of runners lost with one attempt
	stopTimeout  = 20 * time.Second // for a runner to stop a cancelled attempt
	overtime     = 20 * time.Minute // beyond the attempt's time limit, until its runner counts as lost; see [Work.Within]
	closeTimeout = 10 * time.Second
	takeTimeout  = 2 * time.Minute // to apply a runner's change to the work tree
	callsPerTurn = 6               // maximum number of model calls, including retries
	extraCalls   = 30
)

// remoteAgent is an agent that runs one attempt on a runner.
type remoteAgent struct {
	*Dispatcher
	task   sia.Task
	effect sia.Effect
	coder  string
	work   Work

	owner   string
	in      agent.Input
	rec     agent.Recorder
	running time.Time // when its current runner was first seen; zero: it has none
	turns   int       // number of reported turns of the model
	ended   time.Time // when it was first seen that no runner has it any more; zero: one may have it
}

// Name implements [agent.Agent] with the name of the coder: the runner reports the models.
func (r *remoteAgent) Name() string { return "runner/" + r.coder }

// Run implements [agent.Agent].
func (r *remoteAgent) Run(ctx context.Context, in agent.Input, rec agent.Recorder) (agent.Result, error) {
	r.in, r.rec, r.owner = in, rec, rand.Text()
	work, err := r.encode(in.Saved)
	if err != nil {
		return agent.Result{End: sia.EndError}, err
	}
	turns := cmp.Or(in.Limits.Turns, sia.DefaultSettings().Agent.MaxTurns)
	offer := store.RunnerAttempt{Key: r.effect.Key, Task: r.task.ID, Owner: r.owner, Start: r.work.Start, Coder: r.coder,
		Work: work, Credits: in.Limits.Credits, MostCalls: callsPerTurn*turns + extraCalls}
	for _, t := range in.Saved {
		offer.Spent = min(offer.Spent+t.Cost, in.Limits.Credits) // runners may have reported any number of turns
	}
	if err := r.Store.OfferAttempt(ctx, offer); err != nil {
		return agent.Result{End: sia.EndError}, err
	}
	r.changes.notify()
	r.Logger.InfoContext(ctx, "attempt waits for a runner", "task", r.effect.Task, "effect", r.effect.Key)
	return r.follow(ctx)
}

// encode returns the input for a runner, with the saved turns.
func (r *remoteAgent) encode(saved []agent.Turn) ([]byte, error) {
	w := r.work
	w.Input = r.in
	w.Input.Saved, w.Input.Rebuild = saved, len(saved) > 0
	b, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("encode attempt %s for a runner: %w", r.effect.Key, err)
	}
	if len(b) > MaxWork {
		return nil, &sia.Error{Op: "offer attempt " + r.effect.Key, Permanent: true,
			Message: fmt.Sprintf("the attempt's input has %d MiB, and a runner gets at most %d MiB; "+
				"--attempts-on=here has no such limit", len(b)>>20, MaxWork>>20)}
	}
	return b, nil
}

// follow handles the reports of runners until the attempt has ended.
func (r *remoteAgent) follow(ctx context.Context) (agent.Result, error) {
	tick := time.NewTicker(r.Poll)
	defer tick.Stop()
	live := context.WithoutCancel(ctx)
	done, stopped := ctx.Done(), (<-chan time.Time)(nil)
	for {
		changes := r.changes.changed()
		w, err := r.Store.WatchAttempt(live, r.effect.Key, r.owner)
		if errors.Is(err, store.ErrNotFound) {
			return agent.Result{End: sia.EndError}, store.ErrLeaseLost // another server has the attempt
		}
		if err != nil {
			r.Logger.WarnContext(ctx, "can't see how an attempt stands", "task", r.effect.Task, "effect", r.effect.Key,
				"error", err)
		} else if res, over, err := r.handle(live, w, stopped != nil); over || err != nil {
			return res, err
		}
		select {
		case <-changes:
		case <-tick.C:
		case <-stopped:
			if !r.ended.IsZero() {
				continue // only the cost of a call is missing
			}
			return r.closeOffer(live, r.stopped())
		case <-done:
			done = nil
			switch cause := context.Cause(ctx); {
			case errors.Is(cause, context.DeadlineExceeded) && r.running.IsZero():
				return agent.Result{End: sia.EndError}, &sia.Error{Op: "attempt " + r.effect.Key, Err: cause,
					Message: "no runner has it; `sia runner list` shows when each was last seen, and what hinders it"}
			case !errors.Is(cause, store.ErrCancelled):
				return agent.Result{End: sia.EndCancelled}, cause // the next run of the effect offers it again
			}
			if err := r.Store.StopAttempt(live, r.effect.Key, r.owner); err != nil {
				return agent.Result{End: sia.EndCancelled}, err
			}
			timer := time.NewTimer(stopTimeout)
			defer timer.Stop()
			stopped = timer.C
		}
	}
}

// handle handles the current state of an attempt. over reports whether it has ended.
func (r *remoteAgent) handle(
	ctx context.Context, w store.RunnerWatch, stopping bool,
) (res agent.Result, over bool, err error) {
	if w.State != store.RunnerRunning {
		r.running = time.Time{}
	} else if r.running.IsZero() {
		r.running = r.Now()
		r.Logger.InfoContext(ctx, "attempt is made by a runner", "task", r.effect.Task, "effect", r.effect.Key, "runner",
			w.Runner)
	}
	switch {
	case w.Report != nil && w.State != store.RunnerOffered:
		if err := r.record(ctx, w); err != nil {
			_, cerr := r.closeOffer(ctx, agent.Result{})
			return agent.Result{End: sia.EndError, Turns: r.turns, Cost: w.Spent}, true, errors.Join(err, cerr)
		}
		return res, false, nil
	case w.Asks:
		r.answer(ctx, w)
		return res, false, nil
	case (w.State == store.RunnerDone || stopping && w.Lost) && r.awaitCalls():
	case w.State == store.RunnerDone:
		res, err = r.finish(ctx, w)
		return res, true, err
	case stopping && (w.State == store.RunnerOffered || w.Lost):
		res, err = r.closeOffer(ctx, r.stopped())
		return res, true, err
	case w.State == store.RunnerRunning && (w.Lost || r.overdue()):
		return r.reoffer(ctx, w)
	}
	return res, false, nil
}

// stopped returns the result of an attempt that was stopped and of which no runner reports the end.
func (r *remoteAgent) stopped() agent.Result {
	res := agent.Result{End: sia.EndCancelled, Reason: "it was cancelled"}
	if r.turns > 0 || len(r.in.Saved) > 0 {
		res.Reason = agent.StoppedWithoutRunner
	}
	return res
}

// awaitCalls reports whether the cost of the attempt may still change, because the server reads the answer to a call
// that its runner has given up.
func (r *remoteAgent) awaitCalls() bool {
	if r.ended.IsZero() {
		r.ended = r.Now()
	}
	return r.hasCalls(r.effect.Key) && r.Now().Sub(r.ended) < hangUpTimeout
}

// overdue reports whether the runner has exceeded its time for the attempt.
func (r *remoteAgent) overdue() bool { return r.Now().Sub(r.running) > Work{Input: r.in}.Within() }

// reoffer offers the attempt to another runner, with the turns that are in the transcript.
func (r *remoteAgent) reoffer(ctx context.Context, w store.RunnerWatch) (res agent.Result, over bool, err error) {
	r.Logger.WarnContext(ctx, "attempt has lost its runner, or was given back", "task", r.effect.Task, "effect",
		r.effect.Key, "runner", w.Runner, "lost", w.Claims)
	if w.Claims >= maxClaims {
		res, err = r.closeOffer(ctx, agent.Result{End: sia.EndError, Reason: fmt.Sprintf("%d runners took the attempt and "+
			"were lost: the last was %s; its log may say why", w.Claims, w.Runner)})
		return res, true, err
	}
	rows, err := r.Store.TurnsOf(ctx, r.task.ID, r.effect.Attempt, r.effect.Run)
	if err != nil {
		return res, false, err
	}
	saved, err := agent.Turns(rows)
	if err != nil {
		return res, false, err
	}
	if !slices.ContainsFunc(saved, func(t agent.Turn) bool { return t.Kind == agent.TurnModel || t.Cost > 0 }) {
		saved = nil // no model answered yet, and nothing was spent: start from scratch
	}
	work, err := r.encode(saved)
	if err != nil {
		return res, false, err
	}
	r.running = time.Time{}
	err = r.Store.ReofferAttempt(ctx, r.effect.Key, r.owner, work)
	r.changes.notify()
	return res, false, err
}

// record adds a turn that a runner reported to the transcript.
func (r *remoteAgent) record(ctx context.Context, w store.RunnerWatch) error {
	t, err := decodeTurn(w.Report)
	if err != nil {
		return fmt.Errorf("runner %s: %w", w.Runner, err)
	}
	t.At = r.Now()
	if t.Kind == agent.TurnModel {
		r.turns = max(r.turns, t.Number)
	}
	t.Cost = min(t.Cost, max(r.in.Limits.Credits, w.Spent))
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	if err := r.rec.Turn(ctx, t); err != nil {
		return err
	}
	err = r.Store.TakeReport(ctx, r.effect.Key, r.owner, w.Number)
	r.changes.notify()
	return err
}

// closeOffer deletes the offer, which makes the runner's pass invalid. The result has the cost.
func (r *remoteAgent) closeOffer(ctx context.Context, res agent.Result) (agent.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	spent, err := r.Store.CloseAttempt(ctx, r.effect.Key, r.owner)
	res.Turns, res.Cost = r.turns, spent
	return res, err
}

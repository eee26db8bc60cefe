package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// attempting runs a task until the handler of its attempt has started; do is the rest of the handler.
func attempting(
	t *testing.T, s *fixture, do func(ctx context.Context) (sia.Fact, error),
) (sia.TaskID, *script, *store.Engine) {
	t.Helper()
	id := begin(t, s, 42)
	w := newScript(t, s)
	started := make(chan bool, 10)
	w.on[sia.DoAttempt] = func(ctx context.Context, _ sia.Task, _ sia.Effect) (sia.Fact, error) {
		started <- true
		return do(ctx)
	}
	e := engine(t, s, w.handlers(), quick())
	select {
	case <-started:
	case <-patient(t).Done():
		t.Fatal("the attempt did not start")
	}
	return id, w, e
}

// stopTask applies /sia stop: Step cancels the running attempt with an effect.
func stopTask(t *testing.T, s *fixture, id sia.TaskID) {
	t.Helper()
	_, err := s.Apply(patient(t), id, sia.Event{ID: "stop-1", At: at(1), By: anna, Fact: sia.Stop{Reason: "enough"}})
	must(t, err)
}

func testCancelRunning(t *testing.T, s *fixture) {
	said := sia.AttemptEnded{End: sia.EndCancelled, Reason: "stopped by a person", Turns: 3, Cost: 2 * sia.Credit}
	id, w, e := attempting(t, s, func(ctx context.Context) (sia.Fact, error) {
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), store.ErrCancelled) {
			t.Errorf("the cause is %v", context.Cause(ctx))
		}
		return said, nil
	})
	stopTask(t, s, id)
	must(t, e.Idle(patient(t)))
	r := record(t, s, id, sia.DoAttempt)
	if r.State != store.EffectDone || !r.Cancelled || w.count(r.Key) != 1 {
		t.Errorf("called %d times: %+v", w.count(r.Key), r)
	}
	if diff := cmp.Diff(sia.Fact(said), outcome(t, s, id, r.Key)); diff != "" {
		t.Error(diff)
	}
	if task := replayed(t, s, id); task.State != sia.Stopped {
		t.Errorf("the task is %s", task.State)
	}
}

// Tests that the task no longer waits for are cancelled: they would run for minutes.
func testCancelTests(t *testing.T, s *fixture) {
	id := begin(t, s, 42)
	w, started, checked := newScript(t, s), make(chan bool, 1), make(chan bool, 1)
	w.on[sia.DoEvidence] = func(ctx context.Context, _ sia.Task, _ sia.Effect) (sia.Fact, error) {
		started <- true
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	w.on[sia.DoGate] = func(_ context.Context, _ sia.Task, f sia.Effect) (sia.Fact, error) {
		checked <- true
		return sia.Judged{SHA: f.SHA, Looked: s.clock.now(), Verdict: sia.VerdictPending,
			Checks: []sia.Check{{Name: "test", Colour: sia.Running, Required: true}}}, nil
	}
	e := engine(t, s, w.handlers(), quick())
	for _, c := range []chan bool{started, checked} {
		select {
		case <-c:
		case <-patient(t).Done():
			t.Fatal("the tests or the look did not start")
		}
	}
	stopTask(t, s, id)
	must(t, e.Idle(patient(t)))
	if r := record(t, s, id, sia.DoEvidence); !r.Cancelled || w.count(r.Key) != 1 {
		t.Errorf("called %d times: %+v", w.count(r.Key), r)
	}
	if task := replayed(t, s, id); task.State != sia.Stopped || task.Warning != "" {
		t.Errorf("the task is %s: %s", task.State, task.Warning)
	}
}

func testCancelSilent(t *testing.T, s *fixture) {
	id, w, e := attempting(t, s, func(ctx context.Context) (sia.Fact, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	stopTask(t, s, id)
	must(t, e.Idle(patient(t)))
	r := record(t, s, id, sia.DoAttempt)
	if r.State != store.EffectDone || w.count(r.Key) != 1 {
		t.Errorf("called %d times: %+v", w.count(r.Key), r)
	}
	if ended, ok := outcome(t, s, id, r.Key).(sia.AttemptEnded); !ok || ended.End != sia.EndCancelled ||
		ended.Cost != sia.Credit {
		t.Errorf("the outcome is %+v", ended)
	}
}

// testCancelWaiting cancels an attempt that waits behind one that is running.
func testCancelWaiting(t *testing.T, s *fixture) {
	release := make(chan bool)
	c := quick()
	c.Attempts = 1
	w := newScript(t, s)
	started := make(chan sia.TaskID, 10)
	w.on[sia.DoAttempt] = func(ctx context.Context, task sia.Task, f sia.Effect) (sia.Fact, error) {
		started <- task.ID
		<-release
		return w.well(ctx, task, f)
	}
	begun := make(chan bool, 10)
	w.on[sia.DoBegin] = func(ctx context.Context, task sia.Task, f sia.Effect) (sia.Fact, error) {
		defer func() { begun <- true }()
		return w.well(ctx, task, f)
	}
	first := begin(t, s, 1)
	e := engine(t, s, w.handlers(), c)
	defer close(release)
	if got := <-started; got != first {
		t.Fatalf("the attempt of %s started", got)
	}
	<-begun
	second := begin(t, s, 2)
	<-begun
	key := waitFor(t, s, second, sia.DoAttempt)
	must(t, s.CancelEffect(patient(t), key))
	for ctx := patient(t); ; { // the first attempt keeps the engine busy
		r, err := s.Effect(ctx, key)
		must(t, err)
		if r.State == store.EffectDone {
			break
		}
	}
	if ended, ok := outcome(t, s, second, key).(sia.AttemptEnded); !ok || ended.End != sia.EndCancelled ||
		w.count(key) != 0 {
		t.Errorf("called %d times, the outcome is %+v", w.count(key), ended)
	}
	_ = e
}

// testCancelPutOff cancels an effect that waits for its next try.
func testCancelPutOff(t *testing.T, s *fixture) {
	id := begin(t, s, 42)
	w := newScript(t, s)
	w.on[sia.DoReact] = func(context.Context, sia.Task, sia.Effect) (sia.Fact, error) {
		return nil, &sia.Error{Op: "react", Message: "GitHub asks to wait", RetryAfter: time.Hour}
	}
	e := run(t, s, w)
	key := record(t, s, id, sia.DoReact).Key
	must(t, s.CancelEffect(patient(t), key))
	must(t, e.Idle(patient(t)))
	wantStopped(t, s, id, w, key)
}

// testCancelBetweenTries cancels an attempt with saved turns that waits for its next try: its handler is called once
// more, with a context that has ended.
func testCancelBetweenTries(t *testing.T, s *fixture) {
	id := begin(t, s, 42)
	w := newScript(t, s)
	said := sia.AttemptEnded{End: sia.EndCancelled, Reason: "it was stopped", Turns: 3, Commit: "c0ffee"}
	w.on[sia.DoAttempt] = func(ctx context.Context, _ sia.Task, _ sia.Effect) (sia.Fact, error) {
		if errors.Is(context.Cause(ctx), store.ErrCancelled) {
			return said, nil
		}
		return nil, &sia.Error{Op: "attempt", Message: "the model is away", RetryAfter: time.Hour}
	}
	h := w.handlers()
	h.Spent = func(context.Context, sia.Effect) (sia.AttemptEnded, error) {
		return sia.AttemptEnded{Turns: 3, Cost: sia.Credit}, nil
	}
	e := engine(t, s, h, quick())
	must(t, e.Idle(patient(t)))
	key := record(t, s, id, sia.DoAttempt).Key
	must(t, s.CancelEffect(patient(t), key))
	must(t, e.Idle(patient(t)))
	if n := w.count(key); n != 2 {
		t.Errorf("called %d times, want 2", n)
	}
	if diff := cmp.Diff(sia.Fact(said), outcome(t, s, id, key)); diff != "" {
		t.Error(diff)
	}
}

// testCancelThenFails makes an effect fail at the moment in which it is cancelled, before its context ends.
func testCancelThenFails(t *testing.T, s *fixture) {
	id := begin(t, s, 42)
	w := newScript(t, s)
	w.on[sia.DoReact] = func(ctx context.Context, _ sia.Task, f sia.Effect) (sia.Fact, error) {
		must(t, s.CancelEffect(ctx, f.Key))
		return nil, errors.New("no luck")
	}
	run(t, s, w)
	wantStopped(t, s, id, w, record(t, s, id, sia.DoReact).Key)
}

// wantStopped checks that an effect was tried once, and reported that it was stopped.
func wantStopped(t *testing.T, s *fixture, id sia.TaskID, w *script, key string) {
	t.Helper()
	r, err := s.Effect(patient(t), key)
	must(t, err)
	if r.State != store.EffectFailed || !r.Cancelled || r.Error != "it was stopped" || w.count(key) != 1 {
		t.Errorf("called %d times: %+v", w.count(key), r)
	}
	outcome(t, s, id, key)
}

// waitFor returns the key of a task's effect as soon as it is stored.
func waitFor(t *testing.T, s *fixture, id sia.TaskID, kind sia.EffectKind) string {
	t.Helper()
	for ctx := patient(t); ; {
		all, err := s.Effects(ctx, id)
		must(t, err)
		for _, f := range all {
			if f.Kind == kind {
				return f.Key
			}
		}
	}
}

func testCancelFinished(t *testing.T, s *fixture) {
	id := begin(t, s, 42)
	run(t, s, newScript(t, s))
	r := record(t, s, id, sia.DoReact)
	must(t, s.CancelEffect(patient(t), r.Key))
	if again := record(t, s, id, sia.DoReact); again.Cancelled || again.State != store.EffectDone {
		t.Errorf("an effect that was done became %+v", again)
	}
	if err := s.CancelEffect(patient(t), "7-42/9/nothing"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("cancelling nothing gives %v", err)
	}
}

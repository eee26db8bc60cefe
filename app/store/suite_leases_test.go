package store_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/lease"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// frozenEngine returns an engine that never renews or takes over a lease, like a process that is suspended while a
// handler runs.
func frozenEngine(length time.Duration) store.EngineConfig {
	c := quick()
	c.Shared, c.Lease, c.Heartbeats = true, length, make(chan time.Time)
	return c
}

// otherEngine starts another engine. It takes over expired leases whenever a test sends a heartbeat.
func otherEngine() (c store.EngineConfig, beats chan time.Time) {
	beats = make(chan time.Time)
	c = quick()
	c.Shared, c.Heartbeats = true, beats
	return c, beats
}

// zombie is a handler that is suspended: it does not notice the end of its lease, or anything else, until it is woken.
type zombie struct {
	began, wake chan bool
	asleep      atomic.Bool
	ctx         context.Context // of the call that slept
}

func newZombie() *zombie { return &zombie{began: make(chan bool), wake: make(chan bool)} }

// sleep blocks its first caller only.
func (z *zombie) sleep(ctx context.Context) (slept bool) {
	if !z.asleep.CompareAndSwap(false, true) {
		return false
	}
	z.ctx = ctx
	close(z.began)
	<-z.wake
	return true
}

// takenOver sends heartbeats until another worker has begun.
func takenOver(t *testing.T, beats chan time.Time, begun chan bool) {
	t.Helper()
	for ctx := patient(t); ; {
		select {
		case beats <- time.Now():
		case <-begun:
			return
		case <-ctx.Done():
			t.Fatal("nobody took the effect over")
		}
	}
}

// testZombie suspends a worker beyond its lease until another one carries its effect out. When it wakes, while the
// other is still running, it can't write, and its outcome or failure is dropped.
func testZombie(t *testing.T, s *fixture, reports func() (sia.Fact, error)) {
	z := newZombie()
	begun, end := make(chan bool), make(chan bool)
	w := newScript(t, s)
	w.on[sia.DoPush] = func(ctx context.Context, task sia.Task, f sia.Effect) (sia.Fact, error) {
		if !z.sleep(ctx) {
			begun <- true
			<-end
			return sia.Pushed{SHA: f.SHA, Warning: "by the second"}, nil
		}
		if err := lease.Check(ctx); !errors.Is(err, lease.ErrLost) {
			t.Errorf("the sleeper may write: %v", err)
		}
		if err := s.SaveText(ctx, task.ID, 1, "zombie", "x"); !errors.Is(err, lease.ErrLost) {
			t.Errorf("the sleeper wrote to the database: %v", err)
		}
		return reports()
	}
	id := begin(t, s, 42)
	first := engine(t, s, w.handlers(), frozenEngine(50*time.Millisecond))
	<-z.began
	before := record(t, s, id, sia.DoPush) // on a busy machine a lease may have expired before the handler was called
	c, beats := otherEngine()
	second := engine(t, s, w.handlers(), c)
	key := record(t, s, id, sia.DoPush).Key
	takenOver(t, beats, begun)

	<-z.ctx.Done()
	if cause := context.Cause(z.ctx); !errors.Is(cause, store.ErrLeaseLost) {
		t.Errorf("the sleeper's context ended because of %v", cause)
	}
	close(z.wake)
	stop(t, first)
	if r := record(t, s, id, sia.DoPush); r.State != store.EffectPending || r.Tries != before.Tries+1 ||
		r.Error != before.Error {
		t.Errorf("the sleeper reported: %+v", r)
	}
	close(end)
	stop(t, second)
	if got, want := outcome(t, s, id, key), (sia.Pushed{SHA: "c0ffee1", Warning: "by the second"}); got != sia.Fact(want) {
		t.Errorf("the outcome is %+v, want %+v", got, want)
	}
	if r := record(t, s, id, sia.DoPush); r.State != store.EffectDone || r.Tries != before.Tries+1 || w.count(key) != 2 {
		t.Errorf("called %d times: %+v", w.count(key), r)
	}
	replayed(t, s, id)
	settle(t, s, engine(t, s, w.handlers(), quick()), id, sia.Passed)
}

func testZombieReports(t *testing.T, s *fixture) {
	testZombie(t, s, func() (sia.Fact, error) { return sia.Pushed{SHA: "c0ffee1", Warning: "by the sleeper"}, nil })
}

func testZombieFails(t *testing.T, s *fixture) {
	testZombie(t, s, func() (sia.Fact, error) { return nil, errors.New("the sleeper failed") })
}

func testZombieFailsForGood(t *testing.T, s *fixture) {
	testZombie(t, s, func() (sia.Fact, error) {
		return nil, &sia.Error{Op: "push", Message: "the sleeper failed for good", Permanent: true}
	})
}

// testOutcomeOfLostLease: the outcome of a worker with an expired lease is applied if no other worker has begun.
func testOutcomeOfLostLease(t *testing.T, s *fixture) {
	w := newScript(t, s)
	w.on[sia.DoPush] = func(ctx context.Context, _ sia.Task, f sia.Effect) (sia.Fact, error) {
		<-ctx.Done()
		return sia.Pushed{SHA: f.SHA}, nil
	}
	id := begin(t, s, 42)
	settle(t, s, engine(t, s, w.handlers(), frozenEngine(50*time.Millisecond)), id, sia.Passed)
	if r := record(t, s, id, sia.DoPush); r.State != store.EffectDone || r.Tries != 0 || w.count(r.Key) != 1 {
		t.Errorf("called %d times: %+v", w.count(r.Key), r)
	}
}

// testUnheardDelivery: a job that the database assigned to an engine, which never received it because the connection
// broke, is assigned again, although the engine is alive.
func testUnheardDelivery(t *testing.T, s *fixture) {
	raw := storetest.Raw(t, s.url)
	exec := func(statement string) {
		_, err := raw.ExecContext(patient(t), statement)
		must(t, err)
	}
	save := func(guid string) {
		_, err := s.SaveDelivery(patient(t), store.Delivery{GUID: guid, Event: "push", Received: s.clock.now()})
		must(t, err)
	}
	save("unheard")
	exec(`UPDATE river_job SET state = 'pending'`) // no engine takes it
	c, beats := otherEngine()
	began, begun, end := make(chan bool), make(chan bool), make(chan bool)
	h := newScript(t, s).handlers()
	h.Delivery = func(_ context.Context, d store.Delivery) error {
		if d.GUID == "unheard" {
			begun <- true
			return nil
		}
		began <- true
		<-end
		return nil
	}
	engine(t, s, h, c)
	finish := sync.OnceFunc(func() { close(end) })
	t.Cleanup(finish)
	save("heard")
	<-began
	exec(`UPDATE river_job SET state = 'running',
		attempted_at = (SELECT attempted_at FROM river_job WHERE state = 'running'),
		attempted_by = (SELECT attempted_by FROM river_job WHERE state = 'running') WHERE state = 'pending'`)
	s.clock.reach(s.clock.now().Add(2 * time.Minute))
	takenOver(t, beats, begun)
	finish()
}

// testLeftDelivery: a delivery remains with an engine that sends heartbeats, however long it takes. When the engine is
// suspended, the delivery is assigned again.
func testLeftDelivery(t *testing.T, s *fixture) {
	began, begun, end := make(chan bool), make(chan bool), make(chan bool)
	handlers := func(work func(context.Context, store.Delivery) error) store.Handlers {
		h := newScript(t, s).handlers()
		h.Delivery = work
		return h
	}
	c, beats := otherEngine()
	var given atomic.Bool
	engine(t, s, handlers(func(context.Context, store.Delivery) error {
		if !given.CompareAndSwap(false, true) { // this engine also fetches jobs
			begun <- true
			return nil
		}
		began <- true
		<-end
		return nil
	}), c)
	_, err := s.SaveDelivery(patient(t), store.Delivery{GUID: "d", Event: "push", Received: s.clock.now()})
	must(t, err)
	<-began
	c, others := otherEngine()
	engine(t, &fixture{Store: s.beside(t), url: s.url, clock: s.clock},
		handlers(func(context.Context, store.Delivery) error {
			begun <- true
			return nil
		}), c)
	finish := sync.OnceFunc(func() { close(end) })
	t.Cleanup(finish)
	s.clock.reach(s.clock.now().Add(2 * time.Minute))
	for _, all := range []chan time.Time{beats, beats, others, others} { // the second ends the first
		select {
		case all <- time.Now():
		case <-begun:
			t.Fatal("it is done twice")
		case <-patient(t).Done():
			t.Fatal("an engine has no beat")
		}
	}
	if got := column(t, storetest.Raw(t, s.url), `SELECT state FROM river_job WHERE kind = 'deliveries'`); len(got) != 1 ||
		got[0] != "running" {
		t.Errorf("the delivery's job is %v", got)
	}
	s.clock.reach(s.clock.now().Add(2 * time.Minute))
	takenOver(t, others, begun)
	finish()
}

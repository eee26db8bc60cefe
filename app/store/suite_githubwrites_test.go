package store_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// For any requests of two servers at any times, no minute has more than 80 writes of an installation and no hour more
// than 500. A rejected write is allowed at the returned time.
func testWriteLimits(t *testing.T, s *fixture) {
	var now atomic.Int64
	now.Store(at(0).UnixMicro())
	clock := func() time.Time { return time.UnixMicro(now.Load()) }
	servers := []*store.Store{storetest.Open(t, store.Config{URL: s.url, Now: clock}),
		storetest.Open(t, store.Config{URL: s.url, Now: clock})}
	const noisy, quiet = 3, 4
	random := rand.New(rand.NewPCG(1, 0))
	sent := map[int64][]time.Time{}
	take := func(installation int64) time.Time {
		until, err := servers[random.IntN(2)].TakeWrite(patient(t), installation)
		must(t, err)
		if until.IsZero() {
			sent[installation] = append(sent[installation], clock())
		}
		return until
	}
	for len(sent[noisy]) < 620 {
		if random.IntN(20) == 0 {
			if until := take(quiet); !until.IsZero() {
				t.Fatalf("the quiet installation has to wait until %s", until)
			}
		}
		until := take(noisy)
		switch {
		case until.IsZero():
			now.Add(random.Int64N(int64(700 * time.Millisecond / time.Microsecond)))
			continue
		case !until.After(clock()):
			t.Fatalf("it has to wait until %s, and it is %s", until, clock())
		}
		if held, err := servers[0].WritesHeld(patient(t), noisy); err != nil || !held.Equal(until) {
			t.Errorf("held until %s, not %s: %v", held, until, err)
		}
		now.Store(until.UnixMicro())
		if again := take(noisy); !again.IsZero() {
			t.Errorf("at %s it has to wait until %s", until, again)
		}
	}
	for installation, times := range sent {
		for i := range times {
			for window, most := range map[time.Duration]int{time.Minute: 80, time.Hour: 500} {
				if i >= most && times[i].Sub(times[i-most]) < window {
					t.Fatalf("installation %d: %d writes within %s", installation, most+1, times[i].Sub(times[i-most]))
				}
			}
		}
	}
	if took := clock().Sub(at(0)); took > 65*time.Minute {
		t.Errorf("620 writes took %s, which is longer than the limits ask for", took)
	}
	// At the same moment.
	var got atomic.Int64
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 15 {
				until, err := servers[i%2].TakeWrite(patient(t), 5)
				if err != nil {
					t.Error(err)
				}
				if until.IsZero() {
					got.Add(1)
				}
			}
		})
	}
	if wg.Wait(); got.Load() != 80 {
		t.Errorf("%d writes were let through at once", got.Load())
	}
}

// Effects that GitHub's write limit postpones wait without a worker and without failed tries, and continue when the
// limit allows it.
func testWriteLimitHolds(t *testing.T, s *fixture) {
	const tasks, each, before = 15, 2, 60
	for range before {
		_, err := s.TakeWrite(patient(t), 3)
		must(t, err)
	}
	w := newScript(t, s)
	var written, refused atomic.Int64
	write := func(ctx context.Context, task sia.Task, f sia.Effect) (sia.Fact, error) {
		until, err := s.TakeWrite(ctx, task.Installation)
		if err != nil || until.IsZero() {
			written.Add(1)
			fact, _ := w.well(ctx, task, f)
			return fact, err
		}
		refused.Add(1)
		return nil, &sia.Error{Message: "waiting", Turn: true, RetryAfter: until.Sub(s.clock.now())}
	}
	w.on[sia.DoReact], w.on[sia.DoSync] = write, write
	w.on[sia.DoBegin] = func(context.Context, sia.Task, sia.Effect) (sia.Fact, error) {
		return nil, &sia.Error{Message: "much later", RetryAfter: 24 * time.Hour}
	}
	for i := range tasks {
		begin(t, s, i+1)
	}
	e := engine(t, s, w.handlers(), quick())
	must(t, e.Idle(patient(t)))
	if n := written.Load(); n != 80-before {
		t.Errorf("%d were written at once", n)
	}
	due, err := e.NextDue(patient(t))
	must(t, err)
	if wait := due.Sub(s.clock.now()); wait < 30*time.Second || wait > 80*time.Second {
		t.Errorf("the next is due in %s", wait)
	}
	for i := 0; i < 20 && written.Load() < tasks*each; i++ {
		s.clock.reach(due)
		must(t, e.Idle(patient(t)))
		due, err = e.NextDue(patient(t))
		must(t, err)
	}
	if n := written.Load(); n != tasks*each {
		t.Errorf("%d of %d were written", n, tasks*each)
	}
	if n := refused.Load(); n > 40 {
		t.Errorf("%d were tried in vain", n)
	}
	if r := record(t, s, sia.NewTaskID(demo.ID, tasks), sia.DoReact); r.Tries != 0 || r.State != store.EffectDone {
		t.Errorf("it is %+v", r)
	}
}

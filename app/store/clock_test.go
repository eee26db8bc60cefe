package store_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// worldClock is a clock that tests set.
type worldClock interface {
	now() time.Time
	set(at time.Time)
}

// goingClock is the machine's clock, moved ahead by the tests.
type goingClock struct{ ahead atomic.Int64 }

func (c *goingClock) now() time.Time   { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *goingClock) set(at time.Time) { c.ahead.Add(max(0, int64(at.Sub(c.now())))) }

// frozenClock stands still until a test sets it.
type frozenClock struct{ at atomic.Pointer[time.Time] }

func frozen(at time.Time) *frozenClock {
	c := &frozenClock{}
	c.set(at)
	return c
}

func (c *frozenClock) now() time.Time   { return *c.at.Load() }
func (c *frozenClock) set(at time.Time) { c.at.Store(&at) }

// TestInjectedClock: with an injected clock, a test controls when jobs are due.
func TestInjectedClock(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	clock := frozen(time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC))
	s := storetest.Open(t, store.Config{Now: clock.now})
	apply(t, s, "7-1", sia.Event{ID: "start", At: clock.now(), Fact: sia.Start{Repo: sia.Repo{ID: 7}, Issue: 1}})

	var calls atomic.Int64
	e, err := s.Start(ctx, store.Handlers{
		Delivery: func(context.Context, store.Delivery) error { return nil },
		Effect: func(_ context.Context, task sia.Task, f sia.Effect) (sia.Fact, error) {
			if f.Kind != sia.DoBegin {
				return allWell(ctx, task, f)
			}
			calls.Add(1)
			return nil, &sia.Error{Op: "begin", Message: "GitHub asks to wait", RetryAfter: time.Hour}
		},
	}, store.EngineConfig{Tries: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Stop(ctx); err != nil {
			t.Error(err)
		}
	}()
	for want := int64(1); want <= 3; want++ {
		if err := e.Idle(ctx); err != nil {
			t.Fatal(err)
		}
		if calls.Load() != want {
			t.Fatalf("called %d times at %s, want %d", calls.Load(), clock.now(), want)
		}
		if want == 3 {
			break
		}
		due, err := e.NextDue(ctx)
		if err != nil || !due.Equal(clock.now().Add(time.Hour)) {
			t.Fatalf("due at %s %v, it is %s", due, err, clock.now())
		}
		clock.set(due)
	}
	if task, err := s.Replay(ctx, "7-1"); err != nil || task.State == sia.Queued {
		t.Errorf("after the last try the task is %s, %v", task.State, err)
	}
}

package apptest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// horizon is how much time may pass on the stage until nothing is left to do. A
// task that waits for a person has nothing due.
const horizon = 2 * time.Hour

var (
	errReached = errors.New("the point was reached")
	errChanged = errors.New("what is held changed")
	errSlow    = errors.New("took too long by the machine's clock")
)

// Quiet returns when nothing is left to do at the present time: no delivery, no
// workflow run, no job that is due but what is held.
func (s *Stage) Quiet() {
	s.t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), Limit, errSlow)
	defer cancel()
	s.must(s.quiet(ctx))
}

// quiet waits for the simulator and the engine in turn, until a round passes in
// which neither did anything: each sets the other to work.
func (s *Stage) quiet(ctx context.Context) error {
	for {
		held, changed := s.holds.keys()
		round, end := context.WithCancelCause(ctx)
		go func() {
			select {
			case <-changed:
				end(errChanged)
			case <-round.Done():
			}
		}()
		same, err := s.round(round, held)
		again := errors.Is(context.Cause(round), errChanged)
		end(nil)
		switch {
		case again:
		case err != nil:
			return fmt.Errorf("wait for quiet, held %q: %w", held, err)
		case same:
			return nil
		}
	}
}

// round waits for the simulator and for the engine once, and reports whether
// neither did anything meanwhile.
func (s *Stage) round(ctx context.Context, held []string) (same bool, err error) {
	before := s.pulse()
	if err := s.Sim.WaitIdle(ctx); err != nil {
		return false, err
	}
	if s.App != nil {
		if err := s.App.Engine().Idle(ctx, held...); err != nil {
			return false, err
		}
	}
	return s.pulse() == before, nil
}

// pulse changes with everything that the simulator does or is asked.
func (s *Stage) pulse() [3]int {
	return [3]int{int(s.calls.Load()), len(s.Sim.Deliveries()), len(s.Sim.Timeline())}
}

// Settle lets everything happen that will happen without anybody's doing, and
// time pass for it.
func (s *Stage) Settle() {
	s.t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), Limit, errSlow)
	defer cancel()
	s.must(s.settle(ctx, s.Clock.Now().Add(horizon)))
}

// Wait lets time pass by d, and happen what happens meanwhile.
func (s *Stage) Wait(d time.Duration) {
	s.t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), Limit, errSlow)
	defer cancel()
	until := s.Clock.Now().Add(d)
	if err := s.settle(ctx, until); err != nil && !errors.Is(err, errRestless) {
		s.t.Fatal(err)
	}
	s.Clock.Jump(until)
	s.must(s.quiet(ctx))
}

var errRestless = errors.New("things did not come to rest")

func (s *Stage) settle(ctx context.Context, until time.Time) error {
	for {
		if err := s.quiet(ctx); err != nil {
			return err
		}
		if held, _ := s.holds.keys(); s.App == nil || len(held) > 0 {
			return nil
		}
		due, err := s.App.Engine().NextDue(ctx)
		if err != nil || due.IsZero() {
			return err
		}
		if due.After(until) {
			return fmt.Errorf("%w by %s: the next job is due at %s", errRestless, until.Format(time.TimeOnly),
				due.Format(time.TimeOnly))
		}
		s.Clock.Jump(due)
	}
}

// Hold stops the worker when it reaches a point. Call it before what makes the
// worker run, and Until afterwards.
func (s *Stage) Hold(p Point) { s.holds.at(p) }

// Until lets things happen until the worker is held where Hold said. Everything
// else goes on, but time stands still; Go ends it.
func (s *Stage) Until() {
	s.t.Helper()
	reached := s.holds.arrival()
	ctx, cancel := context.WithTimeoutCause(context.Background(), Limit, errSlow)
	defer cancel()
	ctx, arrived := context.WithCancelCause(ctx)
	defer arrived(nil)
	go func() {
		select {
		case <-reached:
			arrived(errReached)
		case <-ctx.Done():
		}
	}()
	err := s.settle(ctx, s.Clock.Now().Add(horizon))
	select {
	case <-reached:
		s.Quiet()
		return
	default:
	}
	s.t.Fatalf("things came to rest before the hold (%v); effects:\n%s", err, s.effects())
}

// effects lists the effects of all tasks, for failures.
func (s *Stage) effects() string {
	var b strings.Builder
	for _, t := range s.tasks() {
		all, err := s.App.Store.Effects(context.Background(), t.ID)
		s.must(err)
		fmt.Fprintf(&b, "%s is %s\n", t.ID, t.State)
		for _, f := range all {
			fmt.Fprintf(&b, "  %s %s\n", f.Key, f.State)
		}
	}
	return b.String()
}

// Cut waits until what is held was cancelled, by whoever has a reason to.
func (s *Stage) Cut() {
	s.t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), Limit, errSlow)
	defer cancel()
	for {
		held, changed := s.holds.keys()
		if len(held) == 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			s.t.Fatalf("wait for %q to be cancelled: %v", held, context.Cause(ctx))
		}
	}
}

// Go lets the worker go on from where it is held.
func (s *Stage) Go() { s.holds.end() }

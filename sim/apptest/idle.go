package apptest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// horizon is how much time may pass on the stage until nothing is left to do. A task that waits for a person has
// nothing due.
const horizon = 2 * time.Hour

var (
	errReached = errors.New("the point was reached")
	errChanged = errors.New("what is held changed")
	errSlow    = errors.New("took too long by the machine's clock")
)

// Quiet returns when nothing is left to do at the present time: no delivery, no workflow run, no due job except held
// ones.
func (s *Stage) Quiet() {
	s.t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), Limit, errSlow)
	defer cancel()
	s.must(s.quiet(ctx))
}

// quiet waits for the simulator and the engine in turn, until neither did anything in a round: each may trigger the
// other.
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

// round waits for the simulator and for the engine once, and reports whether neither did anything meanwhile.
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

// pulse changes with every action of the simulator and every request to it.
func (s *Stage) pulse() [3]int {
	return [3]int{int(s.calls.Load()), len(s.Sim.Deliveries()), len(s.Sim.Timeline())}
}

// Settle runs everything that happens without further input, and advances the time for it.
func (s *Stage) Settle() {
	s.t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), Limit, errSlow)
	defer cancel()
	s.must(s.settle(ctx, s.Clock.Now().Add(horizon)))
}

// Wait advances the time by d, and runs everything that is due meanwhile.
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

// Hold stops the worker when it reaches a point. Call it before the action that starts the worker, and Until
// afterwards.
func (s *Stage) Hold(p Point) { s.holds.at(p) }

// Until runs everything until the worker is held at the point of Hold. Time stands still meanwhile; Go releases the
// worker.
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

// Cut waits until the held effect is cancelled.
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

// Go releases the held worker.
func (s *Stage) Go() { s.holds.end() }

package apptest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// horizon is how much time may pass on the stage before things must have come to
// rest; a task that waits for a person has nothing that is due.
const horizon = 2 * time.Hour

var (
	errReached = errors.New("the point was reached")
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
		held, before := s.holds.keys(), s.pulse()
		if err := s.Sim.WaitIdle(ctx); err != nil {
			return fmt.Errorf("wait for the simulator: %w", cause(ctx, err))
		}
		if s.App != nil {
			if err := s.App.Engine().Idle(ctx, held...); err != nil {
				return fmt.Errorf("wait for the application: %w", cause(ctx, err))
			}
		}
		if s.pulse() == before && slices.Equal(held, s.holds.keys()) {
			return nil
		}
	}
}

// pulse changes with everything that the simulator does or is asked.
func (s *Stage) pulse() [3]int {
	return [3]int{int(s.calls.Load()), len(s.Sim.Deliveries()), len(s.Sim.Timeline())}
}

func cause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); c != nil {
		return c
	}
	return err
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
		if s.App == nil || len(s.holds.keys()) > 0 {
			return nil
		}
		due, err := s.App.Engine().NextDue(ctx)
		if err != nil || due.IsZero() {
			return err
		}
		if due.After(until) {
			return fmt.Errorf("%w by %s: the next job is due at %s", errRestless, until.Format(time.TimeOnly), due.Format(time.TimeOnly))
		}
		s.Clock.Jump(due)
	}
}

// Until lets things happen until the worker comes to a point, and holds it there
// until Go. Everything else goes on, but time stands still.
func (s *Stage) Until(p Point) {
	s.t.Helper()
	reached := s.holds.at(p)
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
	s.t.Fatalf("things came to rest before %s: %v; the task's effects:\n%s", p, err, s.effects())
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

// Go lets the worker go on from where Until holds it.
func (s *Stage) Go() { s.holds.end() }

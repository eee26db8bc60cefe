package lease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/lease"
)

func TestCheck(t *testing.T) {
	if err := lease.Check(context.Background()); err != nil {
		t.Errorf("without a lease: %v", err)
	}
	l := lease.Until(time.Now().Add(time.Hour))
	ctx := lease.With(context.Background(), l)
	if err := lease.Check(ctx); err != nil {
		t.Errorf("with an hour left: %v", err)
	}
	l.Extend(time.Now())
	if err := lease.Check(context.WithoutCancel(ctx)); !errors.Is(err, lease.ErrLost) {
		t.Errorf("after its end: %v", err)
	}
	l.Extend(time.Now().Add(time.Hour))
	if err := lease.Check(ctx); err != nil {
		t.Errorf("extended: %v", err)
	}
}

// TestEitherClock: a lease has expired if either of the clocks has passed its end.
func TestEitherClock(t *testing.T) {
	// Without its monotonic reading a time is compared by the wall clock.
	if wall := time.Now().Round(0); lease.Until(wall).Held() || !lease.Until(wall.Add(time.Hour)).Held() {
		t.Error("the wall clock was not asked")
	}
}

package work

import (
	"context"

	"github.com/sia-bot/sia/sia"
)

// cancel stops the running attempt; the attempt itself reports its end.
func (w *attemptWorker) cancel(ctx context.Context, _ sia.Task, f sia.Effect) (sia.Fact, error) {
	return sia.Done{}, w.Canceller.CancelEffect(ctx, f.TargetKey)
}

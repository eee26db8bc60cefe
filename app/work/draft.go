package work

import (
	"context"

	"github.com/sia-bot/sia/sia"
)

// draft converts the pull request back to a draft while work on it continues.
func (w *surfaceWorker) draft(ctx context.Context, t sia.Task, _ sia.Effect) (sia.Fact, error) {
	if t.Pull.Number == 0 {
		return sia.Drafted{}, nil
	}
	refused, err := refusal(w.repo(t).MarkDraft(ctx, t.Pull.NodeID))
	return sia.Drafted{Refused: refused}, err
}

package work

import (
	"context"
	"errors"

	"github.com/sia-bot/sia/sia"
)

// ready marks the pull request ready for review.
func (w *surfaceWorker) ready(ctx context.Context, t sia.Task, _ sia.Effect) (sia.Fact, error) {
	if t.Pull.Number == 0 {
		return sia.Readied{}, nil
	}
	refused, err := refusal(w.repo(t).MarkReady(ctx, t.Pull.NodeID))
	return sia.Readied{Refused: refused}, err
}

// refusal returns the message of a permanent refusal by GitHub. Other errors, which a retry may solve, are returned
// unchanged.
func refusal(err error) (string, error) {
	var known *sia.Error
	if !errors.As(err, &known) || !sia.IsPermanent(err) {
		return "", err
	}
	return known.Message, nil
}

package work

import (
	"context"
	"errors"
	"fmt"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// push puts the attempt's commit on the task's branch, if the branch is still
// where the attempt found it.
func (w *Worker) push(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	err := w.mirror(t).Push(ctx, t.Branch, f.SHA, t.Head)
	var moved *gitops.LeaseError
	if errors.As(err, &moved) {
		return sia.PushRefused{Head: moved.Head, Reason: fmt.Sprintf("somebody else pushed to `%s` meanwhile", t.Branch)}, nil
	}
	if err != nil {
		return nil, err
	}
	return sia.Pushed{SHA: f.SHA}, nil
}

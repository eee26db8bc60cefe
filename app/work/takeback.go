package work

import (
	"context"
	"errors"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// takeBack resets the branch to the head that was green before the follow-up, if the branch is still at the follow-up's
// commit. If somebody else has pushed meanwhile, it reports their head.
func (w *branchWorker) takeBack(ctx context.Context, t sia.Task, _ sia.Effect) (sia.Fact, error) {
	o := t.Omission
	if o == nil || o.Back == "" {
		return sia.Done{}, nil
	}
	from := string(o.Back)
	on, err := w.pushCommit(ctx, t, from, string(o.Review.SHA), from)
	var moved *gitops.LeaseError
	if errors.As(err, &moved) {
		return sia.TakenBack{SHA: sia.SHA(moved.Head)}, nil
	}
	if err != nil {
		return nil, err
	}
	return sia.TakenBack{SHA: sia.SHA(on.sha)}, nil
}

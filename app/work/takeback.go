package work

import (
	"context"
	"errors"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// takeBack resets the branch to the head that was green before the follow-up, if the branch is still at the follow-up's
// commit; where the branch only moves forward, a commit with that head's files follows. If somebody else has pushed
// meanwhile, it reports their head.
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
	out := sia.TakenBack{SHA: sia.SHA(on.sha)}
	if out.SHA != o.Review.SHA && t.BaseSHA == o.Base { // else it also reverts what the base gained: it is judged anew
		out.Made = o.Review.SHA
	}
	return out, nil
}

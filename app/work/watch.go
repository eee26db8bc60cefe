package work

import (
	"context"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
)

// watch looks at a pull request that has passed.
func (w *Worker) watch(ctx context.Context, t sia.Task, _ sia.Effect) (sia.Fact, error) {
	return w.Standing(ctx, t)
}

// Standing is what a passed pull request's checks show now. Nothing is run again and no log is read: the pass stays
// with the commit that it was given to, and people are told what has changed.
func (w *Worker) Standing(ctx context.Context, t sia.Task) (sia.Watched, error) {
	e, err := w.headChecks(ctx, t)
	if err != nil {
		return sia.Watched{}, err
	}
	out := sia.Watched{SHA: t.Head, Looked: e.in.Now, Found: e.found}
	if e.elsewhere() {
		return out, nil
	}
	e.in.Afterwards = true
	checks := func(in gate.Input) gate.Needs { return in.Needs().Checks() }
	if err := w.supplyAll(ctx, t, e, checks); err != nil {
		return sia.Watched{}, err
	}
	for _, c := range gate.Judge(e.in).Checks {
		if c.Required && c.Colour == sia.Red {
			out.Red = append(out.Red, c)
		}
	}
	return out, nil
}

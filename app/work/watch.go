package work

import (
	"context"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
)

// watch checks a pull request that has passed.
func (w *checkWorker) watch(ctx context.Context, t sia.Task, _ sia.Effect) (sia.Fact, error) {
	return w.checkPassed(ctx, t)
}

// checkPassed implements [Worker.Standing].
func (w *checkWorker) checkPassed(ctx context.Context, t sia.Task) (sia.Watched, error) {
	e, err := w.headChecks(ctx, t)
	if err != nil {
		return sia.Watched{}, err
	}
	out := sia.Watched{SHA: t.Head, Looked: e.in.Now, Found: e.found}
	if e.isStale() {
		return out, nil
	}
	out.Conflicts, out.Unmerged = e.merge.Conflicts, e.merge.Unknown
	e.in.Afterwards = true
	checks := func(in gate.Input) gate.Needs { return in.Needs().Checks() }
	if err := w.fetchAllNeeds(ctx, t, e, checks); err != nil {
		return sia.Watched{}, err
	}
	for _, c := range gate.Judge(e.in).Checks {
		if c.Required && c.Colour == sia.Red {
			out.Red = append(out.Red, c)
		}
	}
	return out, nil
}

// canProceed implements [Worker.Speak].
func (w *checkWorker) canProceed(ctx context.Context, t sia.Task) (bool, error) {
	e, err := w.gather(ctx, t)
	if err != nil || e.lags {
		return false, err
	}
	now := sia.Judged{Found: e.found, Conflicts: e.merge.Conflicts, Verdict: gate.Judge(e.in).Verdict}
	return !now.Silent(), nil
}

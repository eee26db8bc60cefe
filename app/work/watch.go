package work

import (
	"context"
	"slices"

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
	all := gate.Judge(e.in).Checks
	for _, c := range all {
		if c.Required && c.Colour == sia.Red {
			out.Red = append(out.Red, c)
		}
	}
	out.MergeBlocked = e.mergeBlocked(t, all)
	return out, nil
}

// mergeBlocked reports whether GitHub blocks the merge, and for no check or review: also for no required one of these
// checks that is not green yet. If it is unknown, what the task has recorded counts. It is unknown, too, while a rule
// requires SIA's own check run, which becomes green after the pass.
func (e *headEvidence) mergeBlocked(t sia.Task, checks []sia.Check) bool {
	waitsForOwn := slices.ContainsFunc(e.in.Runs, func(r gate.Run) bool {
		return r.Own && r.Conclusion != "success" &&
			slices.ContainsFunc(e.in.Required, func(q gate.Required) bool { return q.Name == r.Name })
	})
	if e.merge.Blocked == nil || waitsForOwn {
		return t.MergeBlocked
	}
	return *e.merge.Blocked && !slices.ContainsFunc(checks, func(c sia.Check) bool {
		return c.Required && slices.Contains([]sia.CheckColour{sia.Red, sia.Running, sia.Blocked}, c.Colour)
	})
}

// canProceed implements [Worker.Speak].
func (w *checkWorker) canProceed(ctx context.Context, t sia.Task) (bool, error) {
	e, err := w.gather(ctx, t)
	if err != nil || e.lags || e.closing {
		return false, err
	}
	now := sia.Judged{Found: e.found, Conflicts: e.merge.Conflicts, Verdict: gate.Judge(e.in).Verdict}
	return !now.Silent(), nil
}

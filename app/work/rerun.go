package work

import (
	"context"
	"slices"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
)

// rerun requests re-runs of jobs; check runs of other apps can't be re-run. Runs that are not completed were already
// requested, and others may have been before an earlier process ended.
func (w *checkWorker) rerun(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	if f.SHA != t.Head { // checks of an earlier head do not count, and re-running them may cancel those of this one
		return sia.Done{}, nil
	}
	repo := w.repo(t)
	set, err := repo.Checks.Of(ctx, string(f.SHA))
	if err != nil {
		return nil, err
	}
	first := w.known(t, f) == github.Unwritten
	var again []github.CheckRun
	for _, r := range set.Runs {
		if !slices.Contains(f.CheckIDs, r.ID) || r.Status != "completed" || r.RunID == 0 {
			continue
		}
		done := false
		if !first {
			if done, err = wasRerun(ctx, repo.Actions, r); err != nil {
				return nil, err
			}
		}
		if !done {
			again = append(again, r)
		}
	}
	got, err := repo.Actions.RerunChecks(ctx, again)
	if err != nil || len(got.Refused) == 0 {
		return sia.Done{}, err
	}
	return sia.RerunRefused{SHA: f.SHA, Runs: got.Refused, Reason: got.Why.Error(),
		Some: got.Accepted > 0}, nil
}

// wasRerun reports whether a job was re-run: its workflow run has a later attempt.
func wasRerun(ctx context.Context, actions *github.Actions, r github.CheckRun) (bool, error) {
	attempts, err := actions.Attempts(ctx, r.RunID)
	for _, n := range attempts {
		if attempts[r.ID] != 0 && n > attempts[r.ID] {
			return true, err
		}
	}
	return false, err
}

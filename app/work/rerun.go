package work

import (
	"context"
	"slices"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
)

// rerun asks for check runs to be run again. Runs that are not completed any
// more were asked for already.
func (w *checkWorker) rerun(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	repo := w.repo(t)
	set, err := repo.Checks(ctx, string(f.SHA))
	if err != nil {
		return nil, err
	}
	again := slices.DeleteFunc(set.Runs, func(r github.CheckRun) bool {
		return !slices.Contains(f.CheckIDs, r.ID) || r.Status != "completed"
	})
	return sia.Done{}, repo.RerunChecks(ctx, again)
}

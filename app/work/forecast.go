package work

import (
	"context"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
)

// forecastFrom is how many of the latest ended tasks a forecast looks at.
const forecastFrom = 300

// forecast says before a task's first attempt what it may cost and how long it may take, by what earlier ones of the
// installation did; nil before a later one.
func (w *startWorker) forecast(ctx context.Context, t sia.Task, labels []string) (*sia.Forecast, error) {
	if len(t.Attempts) > 0 {
		return nil, nil //nolint:nilnil // that there is none is an answer
	}
	tasks, err := w.Store.EndedTasks(ctx, t.Installation, forecastFrom)
	if err != nil {
		return nil, err
	}
	all := make([]sia.Ended, len(tasks))
	for i, e := range tasks {
		all[i] = e.Ended
		all[i].Kind = string(policies.Read(e.Title, e.Body, e.Labels).Kind)
	}
	f := sia.Predict(all, t.Repo.ID, string(policies.Read(t.Title, t.Body, labels).Kind))
	return &f, nil
}

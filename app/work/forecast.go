package work

import (
	"context"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
)

// maxForecastTasks is the number of the latest ended tasks from which a forecast is computed.
const maxForecastTasks = 300

// forecast predicts cost and duration of a task before its first attempt from earlier tasks of the installation. It
// returns nil before later attempts.
func (w *startWorker) forecast(ctx context.Context, t sia.Task, labels []string) (*sia.Forecast, error) {
	if len(t.Attempts) > 0 {
		return nil, nil //nolint:nilnil // only the first attempt has one
	}
	tasks, err := w.Store.EndedTasks(ctx, t.Installation, maxForecastTasks)
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

package store

import (
	"context"

	"github.com/sia-bot/sia/sia"
)

// EndedTask has the data of an ended task that forecasts need.
type EndedTask struct {
	sia.Ended   // without the kind
	Title, Body string
	Labels      []string
}

const endedTasksQuery = `SELECT task FROM tasks t
	WHERE installation_id = ? AND state IN ('passed', 'stopped')
		AND NOT EXISTS (SELECT 1 FROM task_events e WHERE e.task_id = t.id AND e.kind = 'restored')
	ORDER BY updated_at DESC, id LIMIT ?`

// EndedTasks returns the latest tasks of an installation that passed or stopped after an attempt, at most limit. It
// leaves out tasks that were rebuilt from memory, because their end is unknown.
func (s *TaskStore) EndedTasks(ctx context.Context, installation int64, limit int) ([]EndedTask, error) {
	all, err := collect(ctx, s.r, scanJSON[sia.Task], endedTasksQuery, installation, limit)
	var out []EndedTask
	for _, t := range all {
		if len(t.Attempts) == 0 {
			continue
		}
		out = append(out, EndedTask{Title: t.Title, Body: t.Body, Labels: t.Labels, Ended: sia.Ended{
			Repo: t.Repo.ID, Cost: t.Credits.Cost(), Took: t.Since.Sub(t.StartedAt),
			Passed: t.State == sia.Passed,
		}})
	}
	return out, s.explain("list ended tasks", err)
}

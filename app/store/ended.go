package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/sia-bot/sia/sia"
)

// EndedTask is a task that has ended, as forecasts need it.
type EndedTask struct {
	sia.Ended   // without its kind
	Title, Body string
	Labels      []string
}

// EndedTasks are the latest tasks of an installation that passed or stopped after an attempt, at most limit. Those that
// were rebuilt from memory are left out: when they ended is not known.
func (s *TaskStore) EndedTasks(ctx context.Context, installation int64, limit int) ([]EndedTask, error) {
	all, err := collect(ctx, s.r, func(rows *sql.Rows) (e EndedTask, err error) {
		var started, ended string
		var labels sql.NullString
		err = rows.Scan(&e.Repo, &e.Title, &e.Body, &labels, &e.Cost, &e.Passed, &started, &ended)
		if err == nil && labels.String != "" {
			err = json.Unmarshal([]byte(labels.String), &e.Labels)
		}
		var from, to time.Time
		if err == nil {
			from, err = time.Parse(time.RFC3339Nano, started)
		}
		if err == nil {
			to, err = time.Parse(time.RFC3339Nano, ended)
		}
		e.Took = to.Sub(from)
		return e, err
	}, `SELECT repo_id, title, task ->> '$.body', task ->> '$.labels',
			(task ->> '$.credits.spent') + coalesce(task ->> '$.credits.overrun', 0), state = 'passed',
			task ->> '$.started_at', task ->> '$.since'
		FROM tasks t WHERE installation_id = ? AND state IN ('passed', 'stopped') AND task ->> '$.attempts[0].number' > 0
			AND NOT EXISTS (SELECT 1 FROM task_events e WHERE e.task_id = t.id AND e.kind = 'restored')
		ORDER BY updated_at DESC, id LIMIT ?`, installation, limit)
	return all, s.explain("list ended tasks", err)
}

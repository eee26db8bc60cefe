package trial

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies/evolve"
	"github.com/sia-bot/sia/sia"
)

// maxOpenTime is how long a task may stay open before it counts as not resolved. Since tasks count in order, one that
// counts later would delay all that were assigned after it.
const maxOpenTime = 14 * 24 * time.Hour

// taskResult sets the result of a task in an experiment; known is false while it is open. A task is resolved if its
// checks were green and no user had to answer an escalation.
func taskResult(row store.ExperimentTask, t sia.Task, now time.Time) (_ store.ExperimentTask, known bool) {
	row.Escalated = t.State == sia.Escalated && t.Escalation.Kind == sia.AskIssue ||
		slices.ContainsFunc(t.Answers, func(a sia.Answer) bool { return a.Kind == sia.AskIssue })
	row.Tampered = t.Gate.AwaitsPerson || len(t.Accepted) > 0
	row.Credits = float64(t.Credits.Cost()) / float64(sia.Credit)
	row.Seconds = max(0, t.Since.Sub(t.CreatedAt).Seconds())
	judged := slices.ContainsFunc(t.Attempts, func(a sia.Attempt) bool { return a.Outcome == sia.AttemptFail })
	switch {
	case row.Escalated:
		row.Came = evolve.Failed
	case t.State == sia.Passed:
		row.Came = evolve.Resolved
	case t.State == sia.Stopped && !judged:
		row.Came = evolve.Nothing
	case t.State == sia.Stopped, now.Sub(row.At) > maxOpenTime:
		row.Came = evolve.Failed
	}
	return row, row.Came != ""
}

// settleTasks updates the results of an experiment's tasks, and returns all of them in the order of assignment.
func (e *Evolver) settleTasks(ctx context.Context, x store.Experiment) ([]store.ExperimentTask, error) {
	rows, err := e.Store.ExperimentTasks(ctx, x.ID)
	if err != nil {
		return nil, err
	}
	var fresh []store.ExperimentTask
	for i, row := range rows {
		if row.Came != "" {
			continue
		}
		t, err := e.Tasks.Task(ctx, row.ID)
		known := true
		switch {
		case errors.Is(err, store.ErrNotFound):
			row.Came = evolve.Nothing
		case err != nil:
			return nil, err
		default:
			row, known = taskResult(row, t, e.Now())
		}
		if known {
			rows[i] = row
			fresh = append(fresh, row)
		}
	}
	return rows, e.Store.SettleExperimentTasks(ctx, x.ID, fresh)
}

// tasksOf returns the tasks of rows, with their outcomes.
func tasksOf(rows []store.ExperimentTask) []evolve.Task {
	out := make([]evolve.Task, len(rows))
	for i, row := range rows {
		out[i] = row.Task
	}
	return out
}

// computeStanding returns an experiment's standing, computed from its rows.
func computeStanding(x store.Experiment, rows []store.ExperimentTask) evolve.Standing {
	return evolve.Stand(tasksOf(rows), !x.PromotedAt.IsZero(), x.WatchedAt)
}

// StandingOf returns an experiment's standing, computed from its tasks in a database.
func StandingOf(ctx context.Context, s Store, x store.Experiment) (evolve.Standing, error) {
	rows, err := s.ExperimentTasks(ctx, x.ID)
	return computeStanding(x, rows), err
}

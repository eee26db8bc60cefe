package evolve

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies/evolve"
	"github.com/sia-bot/sia/sia"
)

// patience is how long a task may stay open before it counts as not resolved. A task that counts
// later would hold up all that were assigned after it.
const patience = 14 * 24 * time.Hour

// came is what came of a task that takes part; known is false while that is open. It is
// resolved when its checks were green without a person's answer to what SIA could not resolve.
func came(row store.ExperimentTask, t sia.Task, now time.Time) (_ store.ExperimentTask, known bool) {
	row.Escalated = t.State == sia.Escalated && t.Escalation.Kind == sia.AskIssue ||
		slices.ContainsFunc(t.Answers, func(a sia.Answer) bool { return a.Kind == sia.AskIssue })
	row.Tampered = t.Gate.AwaitsPerson || len(t.Accepted) > 0
	row.Credits = t.Credits.Spent + t.Credits.Overrun
	row.Seconds = max(0, t.Since.Sub(t.CreatedAt).Seconds())
	judged := slices.ContainsFunc(t.Attempts, func(a sia.Attempt) bool { return a.Outcome == sia.AttemptFail })
	switch {
	case row.Escalated:
		row.Came = store.TaskFailed
	case t.State == sia.Passed:
		row.Came = store.TaskResolved
	case t.State == sia.Stopped && !judged:
		row.Came = store.TaskNothing
	case t.State == sia.Stopped, now.Sub(row.At) > patience:
		row.Came = store.TaskFailed
	}
	return row, row.Came != ""
}

// settled brings up to date what came of the tasks of an experiment, and gives all of them in the
// order in which they were assigned.
func (e *Evolver) settled(ctx context.Context, x store.Experiment) ([]store.ExperimentTask, error) {
	rows, err := e.Store.ExperimentTasks(ctx, x.ID)
	if err != nil {
		return nil, err
	}
	var fresh []store.ExperimentTask
	for i, row := range rows {
		if row.Came != "" {
			continue
		}
		t, err := e.Tasks.Task(ctx, row.Task)
		known := true
		switch {
		case errors.Is(err, store.ErrNotFound):
			row.Came = store.TaskNothing
		case err != nil:
			return nil, err
		default:
			row, known = came(row, t, e.Now())
		}
		if known {
			rows[i] = row
			fresh = append(fresh, row)
		}
	}
	return rows, e.Store.SettleExperimentTasks(ctx, x.ID, fresh)
}

// counted are the tasks that count already: of those before the promotion, and of those since, the
// ones before the first that is still open. One that came to nothing never counts. open is how many
// have not ended.
func counted(rows []store.ExperimentTask) (before, since []store.ExperimentTask, open int) {
	waits := map[bool]bool{}
	for _, row := range rows {
		switch {
		case row.Came == "":
			waits[row.After] = true
			open++
		case row.Came == store.TaskNothing || waits[row.After]:
		case row.After:
			since = append(since, row)
		default:
			before = append(before, row)
		}
	}
	return before, since, open
}

// trial tells an experiment what came of its tasks.
func trial(before []store.ExperimentTask) (x *evolve.Experiment, course []float64) {
	x = evolve.NewExperiment()
	for _, row := range before {
		x.Add(row.Candidate, row.Came == store.TaskResolved)
		course = append(course, x.E())
	}
	return x, course
}

// Numbers are how an experiment stands.
type Numbers struct {
	Present   evolve.Arm `json:"present"` // tasks of the policy in force
	Candidate evolve.Arm `json:"candidate"`
	Open      int        `json:"open"`   // tasks that take part and have not ended
	E         float64    `json:"e"`      // evidence that the candidate is better, of 20
	Harm      float64    `json:"harm"`   // that it is worse, of 10
	Broken    float64    `json:"broken"` // that the lot is not fair, of 100
	Course    []float64  `json:"course"` // E after each outcome
	Verdict   string     `json:"verdict"`
	Guards    []Guard    `json:"guards,omitempty"` // after the promotion
}

// NumbersOf are how an experiment stands, by what a database has of its tasks.
func NumbersOf(ctx context.Context, s *store.Store, x store.Experiment) (Numbers, error) {
	rows, err := s.ExperimentTasks(ctx, x.ID)
	return numbers(x, rows), err
}

func numbers(x store.Experiment, rows []store.ExperimentTask) (n Numbers) {
	before, since, open := counted(rows)
	t, course := trial(before)
	n.Present, n.Candidate = t.Arms()
	n.Open, n.E, n.Harm, n.Broken, n.Course, n.Verdict = open, t.E(), t.EHarm(), t.EBroken(), course, string(t.Verdict())
	if !x.PromotedAt.IsZero() {
		n.Guards = guards(x, before, since)
	}
	return n
}

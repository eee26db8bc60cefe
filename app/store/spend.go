package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/sia-bot/sia/sia"
)

// spent returns the cost of the tasks of a repository or installation since a time: spent credits and overruns, which
// are real costs, too. Reserved credits don't count.
func spent(ctx context.Context, q querier, of string, id int64, since time.Time) (c sia.Credits, err error) {
	return c, q.QueryRowContext(ctx, `SELECT coalesce(sum(amount), 0) FROM credits
		WHERE kind IN ('spend', 'overrun') AND `+of+` = ? AND at >= ?`, id, micros(since)).Scan(&c)
}

// reserved returns the credits that are reserved for running attempts of a repository or installation. Reservations of
// paused tasks don't count, because it is unknown when they will be spent.
func reserved(ctx context.Context, q querier, of string, id int64) (c sia.Credits, err error) {
	return c, q.QueryRowContext(ctx, `SELECT coalesce(sum(CASE c.kind WHEN 'reserve' THEN c.amount ELSE -c.amount END), 0)
		FROM (SELECT DISTINCT task_id FROM effects WHERE state = 'pending' AND kind IN (?, ?, ?, ?)) AS busy
		JOIN tasks t ON t.id = busy.task_id JOIN credits c ON c.task_id = t.id
		WHERE c.kind IN ('reserve', 'return') AND t.`+of+` = ?`,
		sia.DoAttempt, sia.DoAggregate, sia.DoDecide, sia.DoPush, id).Scan(&c)
}

// checkBudgets adds to a fact that leads to an attempt the reason why the daily budgets don't allow it, if so. The
// attempt's credits are reserved in the same transaction, which holds a lock of the installation: two attempts that
// begin at once, on any servers, can't both use the last credits.
func (s *TaskStore) checkBudgets(ctx context.Context, tx *sql.Tx, t sia.Task, fact sia.Fact) (_ sia.Fact, err error) {
	switch f := fact.(type) {
	case sia.Begun:
		if f.Hold == "" {
			f.Hold, f.Aside, err = s.overBudget(ctx, tx, t, f.Settings.Budget)
		}
		return f, err
	case sia.Decided:
		if f.Type == sia.DecideAssign && t.Opening != nil {
			f.Hold, f.Aside, err = s.overBudget(ctx, tx, t, t.Settings.Budget)
		}
		return f, err
	}
	return fact, nil
}

// overBudget returns why the daily budget of the repository or installation forbids an attempt. kept reports whether it
// does so only because of reserved credits.
func (s *TaskStore) overBudget(ctx context.Context, tx *sql.Tx, t sia.Task, b sia.BudgetSettings) (
	why string, kept bool, err error,
) {
	if err := s.advisoryLock(ctx, tx, fmt.Sprintf("credits of installation %d", t.Installation)); err != nil {
		return "", false, err
	}
	since := s.now().Add(-24 * time.Hour)
	for _, day := range []struct {
		limit         int
		of            string
		id            int64
		name, setting string
	}{
		{b.RepoPerDay, "repo_id", t.Repo.ID, "this repository", "budget.repo_per_day"},
		{b.InstallationPerDay, "installation_id", t.Installation, "all repositories of this installation together",
			"budget.installation_per_day"},
	} {
		if day.limit == 0 {
			continue
		}
		limit := sia.Credits(day.limit) * sia.Credit
		used, err := spent(ctx, tx, day.of, day.id, since)
		if err != nil {
			return "", false, err
		}
		if used >= limit {
			return fmt.Sprintf("%s spent %s of the %s credits of 24 hours (`%s`)", day.name, used, limit, day.setting), false,
				nil
		}
		running, err := reserved(ctx, tx, day.of, day.id)
		if err != nil {
			return "", false, err
		}
		if why == "" && used+running >= limit {
			why = fmt.Sprintf("%s spent %s of the %s credits of 24 hours, and %s are set aside for what is running (`%s`)",
				day.name, used, limit, running, day.setting)
		}
	}
	return why, why != "", nil
}

// LastStarts returns the start times, past or future, of the last tasks that a user
// requested since a time, the latest first and at most n. The user is identified by
// GitHub's user id, or by login if the id is 0. Ignored starts count, too.
func (s *TaskStore) LastStarts(ctx context.Context, sender sia.Actor, since time.Time, n int) ([]time.Time, error) {
	begins, err := collect(ctx, s.r, func(from row) (time.Time, error) {
		e, err := scanJSON[sia.Event](from)
		start, _ := e.Fact.(sia.Start)
		return e.At.Add(time.Duration(start.Wait) * time.Second).Truncate(time.Microsecond), err
	}, `SELECT event FROM task_events WHERE kind = ? AND at >= ? AND 
		CASE WHEN ? <> 0 THEN by_id = ? ELSE by_login = ? END`,
		sia.KStart, micros(since), sender.ID, sender.ID, sender.Login)
	slices.SortFunc(begins, func(a, b time.Time) int { return b.Compare(a) })
	return begins[:min(n, len(begins))], s.explain("look when tasks began", err)
}

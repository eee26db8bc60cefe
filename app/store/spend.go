package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/sia-bot/sia/sia"
)

// spent is what the tasks of a repository or of an installation cost since a time: spent, and overrun, which is real
// money too. What is only reserved does not count.
func spent(ctx context.Context, q querier, of string, id int64, since time.Time) (c sia.Credits, err error) {
	return c, q.QueryRowContext(ctx, `SELECT coalesce(sum(amount), 0) FROM credits
		WHERE kind IN ('spend', 'overrun') AND `+of+` = ? AND at >= ?`, id, micros(since)).Scan(&c)
}

// aside is what is reserved for attempts of a repository or of an installation that are under way. What a paused task
// keeps for the rest of its attempt does not count: nobody knows when that is spent.
func aside(ctx context.Context, q querier, of string, id int64) (c sia.Credits, err error) {
	return c, q.QueryRowContext(ctx, `SELECT coalesce(sum(CASE c.kind WHEN 'reserve' THEN c.amount ELSE -c.amount END), 0)
		FROM (SELECT DISTINCT task_id FROM effects WHERE state = 'pending' AND kind IN (?, ?, ?, ?)) AS busy
		JOIN tasks t ON t.id = busy.task_id JOIN credits c ON c.task_id = t.id
		WHERE c.kind IN ('reserve', 'return') AND t.`+of+` = ?`,
		sia.DoAttempt, sia.DoAggregate, sia.DoDecide, sia.DoPush, id).Scan(&c)
}

// withRoom puts into a fact that leads to an attempt why the budgets of the day have no room for it. The attempt's
// credits are reserved in the same transaction, and nobody else of the installation looks before that ends: two that
// begin at once, on whichever server, don't both take the last room.
func (s *TaskStore) withRoom(ctx context.Context, tx *sql.Tx, t sia.Task, fact sia.Fact) (_ sia.Fact, err error) {
	switch f := fact.(type) {
	case sia.Begun:
		if f.Hold == "" {
			f.Hold, f.Aside, err = s.noRoom(ctx, tx, t, f.Settings.Budget)
		}
		return f, err
	case sia.Decided:
		if f.Type == sia.DecideAssign && t.Opening != nil {
			f.Hold, f.Aside, err = s.noRoom(ctx, tx, t, t.Settings.Budget)
		}
		return f, err
	}
	return fact, nil
}

// noRoom says why the repository's or the installation's budget of the day forbids an attempt, and whether it would
// not without what is set aside.
func (s *TaskStore) noRoom(ctx context.Context, tx *sql.Tx, t sia.Task, b sia.BudgetSettings) (
	why string, kept bool, err error,
) {
	if err := s.hold(ctx, tx, fmt.Sprintf("credits of installation %d", t.Installation)); err != nil {
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
		running, err := aside(ctx, tx, day.of, day.id)
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

// LastStarts are when the last tasks that a person started began or will, the latest
// first and at most n, of those that were asked for since a time. A person goes by
// GitHub's user id, or by login when the id is 0. Starts that were ignored count too.
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

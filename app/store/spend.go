package store

import (
	"context"
	"slices"
	"time"

	"github.com/sia-bot/sia/sia"
)

// CreditsSpent is what the tasks of a repository cost since a time: spent, and
// overrun, which is real money too. What is only reserved does not count.
func (s *CreditStore) CreditsSpent(ctx context.Context, repo int64, since time.Time) (sia.Credits, error) {
	return s.spent(ctx, `repo_id = ?`, repo, since)
}

// CreditsSpentByInstallation is the same of all repositories of an installation.
func (s *CreditStore) CreditsSpentByInstallation(
	ctx context.Context, installation int64, since time.Time,
) (sia.Credits, error) {
	return s.spent(ctx, `installation_id = ?`, installation, since)
}

func (s *CreditStore) spent(ctx context.Context, where string, id int64, since time.Time) (c sia.Credits, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT coalesce(sum(amount), 0) FROM credits
		WHERE kind IN ('spend', 'overrun') AND `+where+` AND at >= ?`, id, micros(since)).Scan(&c)
	return c, s.explain("sum the credits spent", err)
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

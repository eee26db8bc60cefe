package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/sia-bot/sia/sia"
)

// CreditsSpent is what the tasks of a repository cost since a time: spent, and
// overrun, which is real money too. What is only reserved does not count.
func (s *Store) CreditsSpent(ctx context.Context, repo int64, since time.Time) (sia.Credits, error) {
	return s.spent(ctx, `repo_id = ?`, repo, since)
}

// CreditsSpentByInstallation is the same of all repositories of an installation.
func (s *Store) CreditsSpentByInstallation(ctx context.Context, installation int64, since time.Time) (sia.Credits, error) {
	return s.spent(ctx, `installation_id = ?`, installation, since)
}

func (s *Store) spent(ctx context.Context, where string, id int64, since time.Time) (c sia.Credits, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT coalesce(sum(amount), 0) FROM credits
		WHERE kind IN ('spend', 'overrun') AND `+where+` AND at >= ?`, id, micros(since)).Scan(&c)
	return c, s.explain("sum the credits spent", err)
}

// LedgerRow is one change of a task's account.
type LedgerRow struct {
	Seq    int // of the event in the task's log
	At     time.Time
	Kind   string      // grant, reserve, return, spend or overrun
	Amount sia.Credits // positive; a grant that lowers the budget is negative
}

// Ledger is a task's account, oldest change first.
func (s *Store) Ledger(ctx context.Context, id sia.TaskID) ([]LedgerRow, error) {
	rows, err := collect(ctx, s.r, func(rows *sql.Rows) (r LedgerRow, err error) {
		var at int64
		err = rows.Scan(&r.Seq, &at, &r.Kind, &r.Amount)
		r.At = fromMicros(at)
		return r, err
	}, `SELECT seq, at, kind, amount FROM credits WHERE task_id = ? ORDER BY id`, id)
	return rows, s.explain("load the ledger of task "+string(id), err)
}

// Decision is one choice that was made for a task, with its reason.
type Decision struct {
	Seq    int // of the event that led to it
	At     time.Time
	Topic  string // "move": Choice is the state; or what was chosen, such as "technique"
	Choice string
	Why    string
	Detail string // JSON of what else could have been chosen; "" when there is none
}

// Decisions lists what was decided for a task, oldest first.
func (s *Store) Decisions(ctx context.Context, id sia.TaskID) ([]Decision, error) {
	rows, err := collect(ctx, s.r, func(rows *sql.Rows) (d Decision, err error) {
		var at int64
		err = rows.Scan(&d.Seq, &at, &d.Topic, &d.Choice, &d.Why, &d.Detail)
		d.At = fromMicros(at)
		return d, err
	}, `SELECT seq, at, topic, choice, why, detail FROM decisions WHERE task_id = ? ORDER BY id`, id)
	return rows, s.explain("load the decisions of task "+string(id), err)
}

// Tally is how often a technique resolved a pattern of failure in a repository.
type Tally struct {
	Pattern   sia.Pattern
	Technique sia.TechniqueID
	Resolved  int // of Tried
	Tried     int
}

// Tallies counts the outcomes of interventions in a repository, or in all with
// 0, by pattern and technique.
func (s *Store) Tallies(ctx context.Context, repo int64) ([]Tally, error) {
	rows, err := collect(ctx, s.r, func(rows *sql.Rows) (v Tally, err error) {
		return v, rows.Scan(&v.Pattern, &v.Technique, &v.Resolved, &v.Tried)
	}, `SELECT pattern, technique, sum(resolved), count(*) FROM outcomes
		WHERE ? = 0 OR repo_id = ? GROUP BY pattern, technique ORDER BY pattern, technique`, repo, repo)
	return rows, s.explain("count outcomes", err)
}

// CountStarts counts the tasks that a person started since a time, by GitHub's
// user id, or by login when the id is 0. Starts that were ignored count too.
func (s *Store) CountStarts(ctx context.Context, sender sia.Actor, since time.Time) (n int, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT count(*) FROM task_events WHERE kind = ? AND at >= ?
		AND CASE WHEN ? <> 0 THEN by_id = ? ELSE by_login = ? END`,
		sia.KStart, micros(since), sender.ID, sender.ID, sender.Login).Scan(&n)
	return n, s.explain("count starts", err)
}

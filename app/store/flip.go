package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Flip records that a check succeeded on a commit, and whether it also failed
// on it.
type Flip struct {
	Check   string
	Flipped bool
}

// SaveFlips records the flips of checks on a commit. It is idempotent, and a
// check that flipped on a commit keeps that state.
func (s *OutcomeStore) SaveFlips(ctx context.Context, repo int64, sha sia.SHA, flips ...Flip) error {
	return s.write(ctx, fmt.Sprintf("save how checks went on %s", sha), func(tx *sql.Tx) error {
		for _, f := range flips {
			if _, err := tx.ExecContext(ctx, `INSERT INTO flips (repo_id, name, sha, flipped, at) VALUES (?, ?, ?, ?, ?)
				ON CONFLICT (repo_id, name, sha) DO UPDATE SET flipped = excluded.flipped WHERE excluded.flipped > flips.flipped`,
				repo, f.Check, sha, f.Flipped, micros(s.now())); err != nil {
				return err
			}
		}
		return nil
	})
}

// FlipCount counts the commits on which a check succeeded, and those of them on
// which it also failed.
type FlipCount struct {
	Check   string // empty: all checks in all repositories
	Commits int
	Flips   int
}

// FlipCounts counts the flips of each check of a repository, by name, and of all
// checks of all repositories together.
func (s *OutcomeStore) FlipCounts(ctx context.Context, repo int64) (own []FlipCount, all FlipCount, err error) {
	own, err = collect(ctx, s.r, func(from row) (c FlipCount, err error) {
		err = from.Scan(&c.Check, &c.Commits, &c.Flips)
		return c, err
	}, flipsQuery, repo)
	if err == nil {
		err = s.r.QueryRowContext(ctx, allFlipsQuery).Scan(&all.Commits, &all.Flips)
	}
	return own, all, s.explain("count how often checks flipped", err)
}

const (
	flipsQuery    = `SELECT name, count(*), sum(flipped) FROM flips WHERE repo_id = ? GROUP BY name ORDER BY name`
	allFlipsQuery = `SELECT count(*), coalesce(sum(flipped), 0) FROM flips`
)

// PruneFlips deletes the flips that were recorded before a time.
func (s *OutcomeStore) PruneFlips(ctx context.Context, before time.Time) error {
	_, err := s.inBatches(ctx, "prune how checks went", `DELETE FROM flips WHERE (repo_id, name, sha) IN
		(SELECT repo_id, name, sha FROM flips WHERE at < ? LIMIT ?)`, micros(before))
	return err
}

// CountJudged counts the attempts in a repository that have a verdict from checks,
// and those of them that passed.
func (s *OutcomeStore) CountJudged(ctx context.Context, repo int64) (passed, judged int, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT count(CASE WHEN outcome = ? THEN 1 END), count(*) FROM attempts
		WHERE repo_id = ? AND outcome IN (?, ?)`,
		sia.AttemptPass, repo, sia.AttemptPass, sia.AttemptFail).Scan(&passed, &judged)
	return passed, judged, s.explain("count the attempts that were judged", err)
}

// EndedAttempts returns the last attempts of all repositories that finished or
// reached a limit, oldest first.
func (s *TaskStore) EndedAttempts(ctx context.Context, limit int) ([]sia.Attempt, error) {
	all, err := list(ctx, s.DB, "load the last attempts", scanJSON[sia.Attempt], `SELECT attempt FROM attempts
		WHERE outcome IN (?, ?, ?) ORDER BY ended_at DESC, task_id, number LIMIT ?`,
		sia.AttemptPass, sia.AttemptFail, sia.AttemptCheckpoint, limit)
	slices.Reverse(all)
	return all, err
}

package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/sia-bot/sia/sia"
)

// RecordHeartbeat records when a repository's lessons were last tidied.
func (s *TrialStore) RecordHeartbeat(ctx context.Context, repo int64, at time.Time) error {
	return s.exec(ctx, "note that lessons were put in order", `INSERT INTO lesson_heartbeats (repo_id, at) VALUES (?, ?)
		ON CONFLICT (repo_id) DO UPDATE SET at = excluded.at`, repo, micros(at))
}

// LastHeartbeat returns when a repository's lessons were last tidied; the error wraps [ErrNotFound]
// when they never were.
func (s *TrialStore) LastHeartbeat(ctx context.Context, repo int64) (time.Time, error) {
	var at time.Time
	err := s.r.QueryRowContext(ctx, `SELECT at FROM lesson_heartbeats WHERE repo_id = ?`, repo).Scan(timeColumn{&at})
	return at, s.explain("look when lessons were put in order", orNotFound(err))
}

// NoteTrials records techniques that a repository has on trial, each with the time when it was
// first seen: recording one again changes nothing. It returns all that were ever recorded there.
func (s *TrialStore) NoteTrials(
	ctx context.Context, repo int64, at time.Time, techniques ...sia.TechniqueID,
) ([]sia.TechniqueID, error) {
	err := s.write(ctx, fmt.Sprintf("note the techniques on trial in repository %d", repo), func(tx *sql.Tx) error {
		for _, id := range techniques {
			if _, err := tx.ExecContext(ctx, `INSERT INTO technique_trials (repo_id, technique, at) VALUES (?, ?, ?)
				ON CONFLICT DO NOTHING`, repo, id, micros(at)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.Trials(ctx, repo)
}

// Trials lists the techniques that a repository has or had on trial, ordered by the time when
// they were first seen, then by name.
func (s *TrialStore) Trials(ctx context.Context, repo int64) ([]sia.TechniqueID, error) {
	return list(ctx, s.DB, "list the techniques on trial", scanValue[sia.TechniqueID],
		`SELECT technique FROM technique_trials WHERE repo_id = ? ORDER BY at, technique`, repo)
}

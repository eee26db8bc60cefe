package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sia-bot/sia/sia"
)

// AppendTurn saves one turn of the transcript of an attempt's run; an attempt with a single run
// uses run 0. Turns are numbered from 1. Existing turns with this number or a higher one, from a
// previous run of the attempt that was interrupted, are deleted.
func (s *TranscriptStore) AppendTurn(ctx context.Context, id sia.TaskID, attempt, run, number int, turn []byte) error {
	op := fmt.Sprintf("save turn %d of attempt %d of task %s", number, attempt, id)
	body, err := pack(turn)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return s.write(ctx, op, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM transcripts WHERE task_id = ? AND attempt = ? AND run = ? AND
			number >= ?`, id, attempt, run, number); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO transcripts (task_id, attempt, run, number, turn) VALUES (?, ?, ?, ?, ?)`,
			id, attempt, run, number, body)
		return err
	})
}

// Turns returns the turns of all runs of an attempt in order, each as the saved JSON.
func (s *TranscriptStore) Turns(ctx context.Context, id sia.TaskID, attempt int) ([]json.RawMessage, error) {
	return s.turns(ctx, id, attempt, `SELECT turn FROM transcripts WHERE task_id = ? AND attempt = ?
		ORDER BY run, number`, id, attempt)
}

// TurnsOf returns the turns of one run of an attempt.
func (s *TranscriptStore) TurnsOf(ctx context.Context, id sia.TaskID, attempt, run int) ([]json.RawMessage, error) {
	return s.turns(ctx, id, attempt, `SELECT turn FROM transcripts WHERE task_id = ? AND attempt = ? AND run = ?
		ORDER BY number`, id, attempt, run)
}

func (s *TranscriptStore) turns(
	ctx context.Context, id sia.TaskID, attempt int, query string, args ...any,
) ([]json.RawMessage, error) {
	op := fmt.Sprintf("load the transcript of attempt %d of task %s", attempt, id)
	return list(ctx, s.DB, op, func(from row) (turn json.RawMessage, err error) {
		err = from.Scan(packedColumn{(*[]byte)(&turn)})
		return turn, err
	}, query, args...)
}

// SaveText stores a long text of an attempt under a kind, such as "diff" or
// "log", and replaces an earlier one of that kind.
func (s *TranscriptStore) SaveText(ctx context.Context, id sia.TaskID, attempt int, kind, text string) error {
	op := fmt.Sprintf("save the %s of attempt %d of task %s", kind, attempt, id)
	body, err := pack([]byte(text))
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return s.exec(ctx, op, `INSERT INTO texts (task_id, attempt, kind, body) VALUES (?, ?, ?, ?)
		ON CONFLICT (task_id, attempt, kind) DO UPDATE SET body = excluded.body`, id, attempt, kind, body)
}

// Text loads a text that SaveText stored; the error wraps [ErrNotFound] when there is
// none.
func (s *TranscriptStore) Text(ctx context.Context, id sia.TaskID, attempt int, kind string) (string, error) {
	op := fmt.Sprintf("load the %s of attempt %d of task %s", kind, attempt, id)
	var body []byte
	err := s.r.QueryRowContext(ctx, `SELECT body FROM texts WHERE task_id = ? AND attempt = ? AND kind = ?`, id, attempt,
		kind).Scan(packedColumn{&body})
	return string(body), s.explain(op, orNotFound(err))
}

// Surface returns GitHub's id of something that SIA updates repeatedly for a
// task, such as its status comment, and the hash of its last content. Both are
// zero when there is none yet.
func (s *TranscriptStore) Surface(
	ctx context.Context, id sia.TaskID, kind string,
) (githubID int64, hash string, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT github_id, hash FROM surfaces WHERE task_id = ? AND kind = ?`, id,
		kind).Scan(&githubID, &hash)
	return githubID, hash, s.explain(fmt.Sprintf("load the %s of task %s", kind, id), ignoreNoRows(err))
}

// SaveSurface stores a surface, and replaces the stored one.
func (s *TranscriptStore) SaveSurface(
	ctx context.Context, id sia.TaskID, kind string, githubID int64, hash string,
) error {
	return s.exec(ctx, fmt.Sprintf("save the %s of task %s", kind, id),
		`INSERT INTO surfaces (task_id, kind, github_id, hash) VALUES (?, ?, ?, ?)
		ON CONFLICT (task_id, kind) DO UPDATE SET github_id = excluded.github_id, hash = excluded.hash`,
		id, kind, githubID, hash)
}

// The surfaces that show a task's state to users.
const (
	SurfaceStatus = "status" // the status comment
	SurfaceLabels = "labels"
	SurfaceCheck  = "check" // with the head's SHA
	SurfacePull   = "pull"  // the text of the pull request, with its number
	SurfaceTrace  = "trace" // the span of the whole task, in exported traces
)

// PruneTranscripts deletes the turns and texts of tasks that have ended and did not change since a time. When it
// returns an error, the deletions made so far are committed.
func (s *TranscriptStore) PruneTranscripts(ctx context.Context, before time.Time) (n int64, err error) {
	err = s.eachEnded(ctx, before, hasTexts, func(id sia.TaskID) error {
		some, err := s.pruneTexts(ctx, id, before)
		n += some
		return err
	})
	return n, err
}

// hasTexts is the SQL condition that a task, the row t, has turns or texts.
const hasTexts = `(EXISTS (SELECT 1 FROM transcripts r WHERE r.task_id = t.id)
	OR EXISTS (SELECT 1 FROM texts r WHERE r.task_id = t.id))`

// pruneTexts deletes the turns and texts of a task, if it has ended and did not change since a time.
func (s *DB) pruneTexts(ctx context.Context, id sia.TaskID, before time.Time) (n int64, err error) {
	for _, table := range []string{"transcripts", "texts"} {
		some, err := s.inBatches(ctx, "prune "+table, `DELETE FROM `+table+` WHERE rowid IN (SELECT r.rowid FROM tasks t
			JOIN `+table+` r ON r.task_id = t.id WHERE t.id = ? AND t.state IN (?, ?) AND t.updated_at < ? LIMIT ?)`,
			id, sia.Passed, sia.Stopped, micros(before))
		if n += some; err != nil {
			return n, err
		}
	}
	return n, nil
}

// pruneBatch is the maximum number of rows that one transaction deletes.
const pruneBatch = 500

// inBatches runs a DELETE statement until it finds no more rows. The last parameter of the statement is its maximum
// number of rows. When inBatches returns an error, the deletions made so far are committed.
func (s *DB) inBatches(ctx context.Context, op, query string, args ...any) (n int64, err error) {
	for {
		var some int64
		err := s.write(ctx, op, func(tx *sql.Tx) (err error) {
			some, err = affected(ctx, tx, query, append(args, pruneBatch)...)
			return err
		})
		if err != nil {
			return n, err
		}
		if n += some; some < pruneBatch {
			return n, nil
		}
	}
}

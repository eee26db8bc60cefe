package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sia-bot/sia/sia"
)

// Everything that knows that the database is SQLite is in this file and in
// migrations/sqlite.

const (
	busyTimeout = 10 * time.Second // waiting for the other writer
	busyStep    = 500 * time.Microsecond
	readers     = 8 // connections for reading
)

// File is the file that a database URL names, as an absolute path. What is no URL of a database is an error that says
// what to write. Nothing is opened.
func File(raw string) (string, error) {
	const op = "open the database"
	scheme, rest, ok := strings.Cut(raw, ":")
	switch {
	case raw == "":
		return "", &sia.Error{Op: op, Permanent: true, Message: "no database is named; give a file, such as " +
			"sqlite:/var/lib/sia/sia.db"}
	case ok && (scheme == "postgres" || scheme == "postgresql"):
		return "", &sia.Error{Op: op, Permanent: true, Message: "PostgreSQL is not supported yet; give a file, such as " +
			"sqlite:/var/lib/sia/sia.db"}
	case ok && (scheme == "sqlite" || scheme == "file"):
		rest = strings.TrimPrefix(rest, "//")
	case ok && strings.HasPrefix(rest, "//"):
		return "", &sia.Error{Op: op, Permanent: true, Message: fmt.Sprintf("%q names a kind of database that is not "+
			"known; give a file, such as sqlite:/var/lib/sia/sia.db", scheme)}
	default:
		rest = raw
	}
	if rest == "" || rest == ":memory:" {
		return "", &sia.Error{Op: op, Permanent: true, Message: "the database must be a file, such as " +
			"sqlite:/var/lib/sia/sia.db"}
	}
	path, err := filepath.Abs(rest)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", op, rest, err)
	}
	return path, nil
}

// openSQLite makes the file, readable by its owner alone, and opens the pools.
// The write lock is taken when a transaction begins: taking it later fails
// under concurrency instead of waiting.
func (s *DB) openSQLite(ctx context.Context) error {
	op := "open the database " + s.path
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return &sia.Error{Op: op, Permanent: true, Message: "the file can't be written; check its owner and permissions",
			Err: err}
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	open := func(db **sql.DB, conns int, wait time.Duration, txlock string, pragmas ...string) {
		if err != nil {
			return
		}
		options := url.Values{"_txlock": {txlock}, "_pragma": append([]string{
			fmt.Sprintf("busy_timeout(%d)", wait.Milliseconds()),
			"journal_mode(WAL)", "synchronous(NORMAL)", "foreign_keys(1)", "wal_autocheckpoint(0)",
		}, pragmas...)}
		dsn := (&url.URL{Scheme: "file", Path: s.path, RawQuery: options.Encode()}).String()
		if *db, err = openCompiling(dsn); err == nil {
			(*db).SetMaxOpenConns(conns)
			(*db).SetMaxIdleConns(conns)
			err = (*db).PingContext(ctx)
		}
	}
	open(&s.river, 1, busyTimeout, "immediate")
	open(&s.w, 1, 0, "immediate") // begin waits
	open(&s.ckpt, 1, checkpointBusy, "immediate")
	open(&s.r, readers, busyTimeout, "deferred", "query_only(1)")
	if err != nil {
		return errors.Join(s.explain(op, err), s.closePools())
	}
	return nil
}

// begin begins a transaction that holds the write lock; the caller holds
// s.turn. SQLite's own waiting sleeps in growing steps, 10 ms at the fourth; this
// looks again sooner.
func (s *DB) begin(ctx context.Context) (*sql.Tx, error) {
	deadline := time.Now().Add(busyTimeout)
	for {
		tx, err := s.w.BeginTx(ctx, nil)
		var e *sqlite.Error
		if err == nil || !errors.As(err, &e) || e.Code()&0xff != sqlite3.SQLITE_BUSY || time.Now().After(deadline) {
			return tx, err
		}
		select {
		case <-time.After(busyStep):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (s *DB) driver() riverdriver.Driver[*sql.Tx] {
	return commitDriver{riversqlite.New(s.river), s.commits}
}

// explain names the operation of an error and, where a person can do something
// about the database's trouble, says what.
func (s *DB) explain(op string, err error) error {
	if err == nil {
		return nil
	}
	var known *sia.Error
	if errors.As(err, &known) {
		return err
	}
	var e *sqlite.Error
	message := ""
	if errors.As(err, &e) {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_FULL:
			message = "the disk that holds " + s.path + " is full; free some space and SIA goes on where it was"
		case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
			message = "the database " + s.path + " can't be written; check the owner and permissions of the file and its folder"
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			message = "the database " + s.path + " is locked; end whatever else has it open for writing"
		case sqlite3.SQLITE_IOERR:
			message = "the disk that holds " + s.path + " reported an error; check the disk"
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			message = s.path + " is damaged or no SIA database; restore a backup, or name a new file and run sia memory reindex"
		}
	}
	if message == "" {
		return fmt.Errorf("%s: %w", op, err)
	}
	return &sia.Error{Op: op, Message: message, Err: err}
}

// revive makes the jobs of a process that died available again, its leadership and its leases vacant, and new jobs
// for effects that have none. The caller holds the engine's lock, so that no other process is
// working: a job that is running is nobody's.
func (s *DB) revive(ctx context.Context) (jobs int64, err error) {
	err = s.write(ctx, "revive jobs", func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE river_job SET state = 'available' WHERE state = 'running'`)
		if err != nil {
			return err
		}
		if jobs, err = res.RowsAffected(); err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, `DELETE FROM river_leader`); err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, `UPDATE effects SET lease_until = 0
			WHERE state = 'pending' AND lease_until > 0`); err != nil {
			return err
		}
		lost, err := effectsWithoutWorker(ctx, tx, leaseNow(), time.Time{})
		if err != nil {
			return err
		}
		for _, f := range lost {
			if err := s.insertJob(ctx, tx, f.Key, queueOf(f), f.At); err != nil {
				return err
			}
		}
		jobs += int64(len(lost))
		return nil
	})
	return jobs, err
}

// effectsWithoutWorker lists the pending effects whose lease is free or ran out by now and that no job will take: none
// waits, and the one that runs has lost its lease, or was begun before a time, by River's clock, and took none.
func effectsWithoutWorker(ctx context.Context, tx *sql.Tx, now, begunBefore time.Time) ([]sia.Effect, error) {
	return collect(ctx, tx, scanJSON[sia.Effect], `SELECT effect FROM effects e
		WHERE state = 'pending' AND lease_until <= ? AND NOT EXISTS (SELECT 1 FROM river_job j
			WHERE j.id = e.job_id AND j.kind = 'effect' AND json_extract(j.args, '$.key') = e.key
				AND (j.state IN ('available', 'pending', 'retryable', 'scheduled')
					OR j.state = 'running' AND e.lease_until = 0 AND j.attempted_at > ?))`,
		micros(now), begunBefore.UTC().Format(riverTime))
}

// unfinished counts the jobs that run, and says when the next of those that wait is due; zero: none waits. Jobs of
// held effects don't count. River notes the end of jobs in batches, up to a quarter of a second later: what they are
// for tells sooner.
func (s *DB) unfinished(ctx context.Context, held []string) (running int, next time.Time, err error) {
	keys, err := json.Marshal(append([]string{}, held...))
	if err != nil {
		return 0, next, fmt.Errorf("count unfinished jobs: %w", err)
	}
	var at sql.NullString
	err = s.r.QueryRowContext(ctx, `SELECT count(CASE WHEN state = 'running' THEN 1 END),
			min(CASE WHEN state <> 'running' THEN scheduled_at END)
		FROM river_job WHERE state IN ('running', 'available', 'scheduled', 'retryable')
		AND NOT (kind = 'effect' AND json_extract(args, '$.key') IN (SELECT value FROM json_each(?)))
		AND NOT (kind = 'delivery' AND EXISTS (SELECT 1 FROM deliveries
			WHERE guid = json_extract(args, '$.guid') AND state <> 'pending'))
		AND NOT (kind = 'setup' AND EXISTS (SELECT 1 FROM setups
			WHERE repo_id = json_extract(args, '$.repo') AND state <> 'pending'))`, string(keys)).Scan(&running, &at)
	if err == nil && at.Valid {
		next, err = time.Parse(riverTime, at.String)
	}
	return running, next, s.explain("count unfinished jobs", err)
}

// riverTime is how River spells times on SQLite, in UTC.
const riverTime = "2006-01-02 15:04:05.000"

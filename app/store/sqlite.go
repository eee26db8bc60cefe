package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// All SQLite-specific code is in this file, in statements.go, checkpoint.go, backup.go and sqlitejobs.go.

const (
	busyTimeout      = 10 * time.Second // for the write lock
	busyPollInterval = 500 * time.Microsecond
	readers          = 8 // connections for reading
)

// keywordAddress matches libpq's keyword/value form of an address, which is not supported.
var keywordAddress = lazyregexp.New(`^\s*(host|hostaddr|port|dbname|user|password|service|sslmode)\s*=`)

// File returns the absolute path of the file that a database URL names; "" for PostgreSQL. For anything else it returns
// an error that explains the accepted forms. It opens nothing.
func File(raw string) (string, error) {
	const op = "open the database"
	scheme, rest, ok := strings.Cut(raw, ":")
	switch {
	case raw == "":
		return "", &sia.Error{Op: op, Permanent: true, Message: "no database is named; " + databaseURLHelp}
	case IsPostgres(raw):
		return "", nil
	case keywordAddress.MatchString(raw): // which may have a password
		return "", &sia.Error{Op: op, Permanent: true, Message: "words such as host= are not read as the address of a " +
			"PostgreSQL database; " + databaseURLHelp}
	case ok && (scheme == "sqlite" || scheme == "file"):
		rest = strings.TrimPrefix(rest, "//")
	case ok && strings.HasPrefix(rest, "//"):
		return "", &sia.Error{Op: op, Permanent: true, Message: fmt.Sprintf("%q names a kind of database that is not "+
			"known; %s", scheme, databaseURLHelp)}
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

// databaseURLHelp explains the form of a database URL.
const databaseURLHelp = "give a file, such as sqlite:/var/lib/sia/sia.db, or postgres://user@host/database"

// sqliteDialect implements dialect for SQLite: one file, and one writer at a time.
type sqliteDialect struct {
	*DB
	path    string     // of the database file
	ckpt    *sql.DB    // one connection, for checkpoints
	writeMu sync.Mutex // serializes writes
}

func (s *sqliteDialect) name() string { return s.path }

func (*sqliteDialect) goose() goose.Dialect { return goose.DialectSQLite3 }

func (*sqliteDialect) schema(migration string) string { return migration }

func (*sqliteDialect) versionTableQuery() string {
	return `SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'goose_db_version')`
}

// checkForeign returns an error when the file is a database of another application. It uses a read-only connection,
// because the connections of the pools write to the file when they are opened. It ignores a file that can't be read:
// opening the pools reports that.
func (s *sqliteDialect) checkForeign(ctx context.Context) error {
	if f, err := os.Stat(s.path); err != nil || f.Size() == 0 {
		return nil // it is missing or empty, or open reports the error
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: s.path, RawQuery: "mode=ro"}).String())
	if err != nil {
		return err
	}
	defer db.Close()
	var theirs, ours bool
	err = db.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE name NOT LIKE 'river_%' AND name NOT LIKE 'goose_%'
			AND name NOT LIKE 'sqlite_%') > 0, count(*) FILTER (WHERE name = 'task_events') > 0
		FROM sqlite_master WHERE type = 'table'`).Scan(&theirs, &ours)
	if err == nil && theirs && !ours {
		return &sia.Error{Op: "open the database " + s.path, Permanent: true,
			Message: s.path + " is a database of something else than SIA; nothing was written to it. Name another file"}
	}
	return nil
}

// open creates the file, readable by its owner alone, and opens the pools.
// The write lock is taken when a transaction begins: taking it later fails
// under concurrency instead of waiting.
func (s *sqliteDialect) open(ctx context.Context) error {
	if err := s.checkForeign(ctx); err != nil {
		return err
	}
	err := os.MkdirAll(filepath.Dir(s.path), 0o700)
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(s.path, os.O_CREATE|os.O_RDWR, 0o600)
	}
	if err != nil {
		at := &fs.PathError{Path: s.path, Err: err}
		errors.As(err, &at)
		return &sia.Error{Op: "open the database " + s.path, Permanent: true, Err: err, Message: fmt.Sprintf("%s can't be "+
			"written: %v; check owner and permissions, or name another database with --dir or --db", at.Path, at.Err)}
	}
	if err := f.Close(); err != nil {
		return err
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
		if *db, err = openCaching(dsn); err == nil {
			(*db).SetMaxOpenConns(conns)
			(*db).SetMaxIdleConns(conns)
			err = (*db).PingContext(ctx)
		}
	}
	open(&s.DB.river, 1, busyTimeout, "immediate")
	open(&s.w, 1, 0, "immediate") // begin waits
	open(&s.ckpt, 1, checkpointBusyTimeout, "immediate")
	open(&s.r, readers, busyTimeout, "deferred", "query_only(1)")
	return err
}

func (s *sqliteDialect) close() error {
	if s.ckpt == nil {
		return nil
	}
	return s.ckpt.Close()
}

func (*sqliteDialect) committers() int { return 1 }

// begin begins a transaction that holds the write lock. SQLite's busy handler sleeps in growing steps, 10 ms at the
// fourth; this one polls more often.
func (s *sqliteDialect) begin(ctx context.Context) (_ *sql.Tx, done func(), err error) {
	s.writeMu.Lock()
	defer func() {
		if err != nil {
			s.writeMu.Unlock()
		}
	}()
	deadline := time.Now().Add(busyTimeout)
	for {
		tx, err := s.w.BeginTx(ctx, nil)
		var e *sqlite.Error
		if err == nil || !errors.As(err, &e) || e.Code()&0xff != sqlite3.SQLITE_BUSY || time.Now().After(deadline) {
			return tx, s.writeMu.Unlock, err
		}
		select {
		case <-time.After(busyPollInterval):
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// retryable returns false: writes are serialized, so they don't conflict.
func (*sqliteDialect) retryable(error) bool { return false }

// advisoryLock does nothing: a write transaction locks the whole database.
func (*sqliteDialect) advisoryLock(context.Context, *sql.Tx, string) error { return nil }

func (*sqliteDialect) forUpdate() string { return "" }

func (s *sqliteDialect) snapshot(ctx context.Context) (*sql.Tx, error) { return s.r.BeginTx(ctx, nil) }

func (s *sqliteDialect) driver() riverdriver.Driver[*sql.Tx] {
	return commitDriver{Driver: sqliteDriver{riversqlite.New(s.DB.river), s.DB}, s: s.DB, singleProcess: true}
}

func (s *sqliteDialect) message(err error) string {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_ERROR:
		if strings.Contains(e.Error(), "no such table") || strings.Contains(e.Error(), "no such column") {
			return "the database " + s.path + " " + olderSchema
		}
	case sqlite3.SQLITE_FULL:
		return "the disk that holds " + s.path + " is full; free some space and SIA goes on where it was"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return "the database " + s.path + " can't be written; check the owner and permissions of the file and its folder"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "the database " + s.path + " is locked; end whatever else has it open for writing"
	case sqlite3.SQLITE_IOERR:
		return "the disk that holds " + s.path + " reported an error; check the disk"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return s.path + " is damaged or no SIA database; restore a backup, or name a new file and run sia memory reindex"
	}
	return ""
}

func (*sqliteDialect) unreachable(error) bool { return false }

// checkRights returns nil: a file that can't be written is not opened.
func (*sqliteDialect) checkRights(context.Context) error { return nil }

func (*sqliteDialect) shared() bool { return false }

// claim takes the lock file, which allows one engine at a time.
func (s *sqliteDialect) claim(context.Context) (unlock func() error, err error) {
	return lock(s.path + ".lock")
}

// requeueOrphans makes the jobs of a dead process available again, releases its leadership and its leases, and inserts
// jobs for effects that have none. The caller holds the engine's lock, so no other process is working: a job in the
// state running has no worker.
func (s *sqliteDialect) requeueOrphans(ctx context.Context) (jobs int64, err error) {
	err = s.write(ctx, "revive jobs", func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM river_leader`); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE effects SET lease_until = 0
			WHERE state = 'pending' AND lease_until > 0`); err != nil {
			return err
		}
		if jobs, err = affected(ctx, tx, `UPDATE river_job SET state = 'available' WHERE state = 'running'`); err != nil {
			return err
		}
		lost, err := s.takeOverTx(ctx, tx, time.Time{})
		jobs += int64(lost)
		return err
	})
	return jobs, err
}

// deliveryRows implements dialect. The numbers of rows are powers of two, to limit the number of prepared statements.
func (*sqliteDialect) deliveryRows(all []*savedDelivery) (n int, rows string, args []any) {
	n = 1 << (bits.Len(uint(len(all))) - 1)
	for _, d := range all[:n] {
		args = append(args, d.GUID, d.Event, d.Action, d.Installation, d.Repo, d.Body, micros(d.Received))
	}
	return n, "VALUES " + strings.TrimSuffix(strings.Repeat("(?, ?, ?, ?, ?, ?, ?), ", n), ", "), args
}

func (*sqliteDialect) inList(listKind) string { return `IN (SELECT value FROM json_each(?))` }

func (*sqliteDialect) listRows() string { return `json_each(?)` }

// repoOf relies on SQLite's cast, which stops at the first character that is no digit.
func (*sqliteDialect) repoOf(column string) string { return `CAST(` + column + ` AS integer)` }

func (*sqliteDialect) stamp(t time.Time) any { return t.UTC().Format(riverTime) }

// leaseClock returns the machine's clock.
func (*sqliteDialect) leaseClock() string { return `CAST(1000000 * unixepoch('subsec') AS integer)` }

func (*sqliteDialect) columnsQuery() string {
	return `SELECT m.name, c.name, lower(c.type), c.pk, m.sql NOT LIKE '%WITHOUT ROWID%'
		FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT LIKE 'river_%' AND m.name NOT LIKE 'goose_%'
		ORDER BY m.name, c.cid`
}

// advanceSequence does nothing: SQLite derives the next number from the rows.
func (*sqliteDialect) advanceSequence(context.Context, *sql.Tx, table) error { return nil }

func (s *sqliteDialect) requireIdle(ctx context.Context) (release func() error, err error) {
	return s.claim(ctx)
}

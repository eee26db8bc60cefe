package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver"
)

// dialect covers the differences between SQLite (sqlite.go) and PostgreSQL (postgres.go). All other statements are
// written once, in SQL that both accept, with ? for parameters. docs/adr/0027 explains how they are kept compatible.
type dialect interface {
	// name returns the name of the database for messages, without a password.
	name() string
	// open opens the pools.
	open(ctx context.Context) error
	// close closes everything that open opened, except the pools.
	close() error
	// driver returns River's driver.
	driver() riverdriver.Driver[*sql.Tx]
	// goose returns goose's dialect.
	goose() goose.Dialect
	// versionTableQuery returns a query that reports whether goose's version table exists.
	versionTableQuery() string
	// schema translates a migration, which is written for SQLite.
	schema(migration string) string
	// checkRights returns an error when the user may not create the tables, or not write to existing ones.
	checkRights(ctx context.Context) error
	// background runs maintenance until ctx ends.
	background(ctx context.Context)

	// begin begins a write transaction. done releases its other resources.
	begin(ctx context.Context) (tx *sql.Tx, done func(), err error)
	// committers returns how many transactions that save deliveries run concurrently.
	committers() int
	// retryable reports whether a transaction that failed with err may succeed when it is retried.
	retryable(err error) bool
	// unreachable reports whether an error is that the server can't be reached; a file always can.
	unreachable(err error) bool
	// advisoryLock takes an exclusive lock by name, until the transaction ends.
	advisoryLock(ctx context.Context, tx *sql.Tx, what string) error
	// snapshot begins a read-only snapshot transaction.
	snapshot(ctx context.Context) (*sql.Tx, error)
	// message returns, for users, the meaning of a database error and what to do; "" when the error is clear enough.
	message(err error) string

	// shared reports whether several processes work on the database.
	shared() bool
	// claim locks the jobs of the database for this process.
	claim(ctx context.Context) (unlock func() error, err error)
	// requeueOrphans makes the jobs of a dead process available again.
	requeueOrphans(ctx context.Context) (jobs int64, err error)

	// stamp returns a time as River stores it.
	stamp(t time.Time) any
	// leaseClock returns an SQL expression for the clock of leases, which all engines share: microseconds since 1970 UTC.
	leaseClock() string

	// deliveryRows returns SQL for the first n of some deliveries as rows of guid, event, action, installation_id, repo,
	// body and received_at, and its arguments.
	deliveryRows(all []*savedDelivery) (n int, rows string, args []any)

	// inList returns the right side of a condition: the value on its left is in a parameter that is a JSON array.
	inList(kind listKind) string
	// listRows returns SQL for the elements of a parameter that is a JSON array as rows of the column value.
	listRows() string
	// repoOf returns an SQL expression for the repository id in a column that has task ids.
	repoOf(column string) string

	// forUpdate returns the suffix of a SELECT that locks its rows for a later update.
	forUpdate() string

	// columnsQuery lists the columns of SIA's tables: table, column, type, place in the primary key from 1, and whether
	// the table has rowids.
	columnsQuery() string
	// advanceSequence advances the sequence of a table beyond the rows that were copied with their numbers.
	advanceSequence(ctx context.Context, tx *sql.Tx, t table) error
	// requireIdle returns an error when a server works on the database; on SQLite none can start until release.
	requireIdle(ctx context.Context) (release func() error, err error)

	// Backup writes a consistent snapshot of the database to a new file that only its owner can read, while this or
	// other processes write. The file appears under its name when it is complete and verified. Backup takes as long as
	// reading and writing the database, and as much free disk space next to the file. size is in bytes.
	//
	// To restore it, replace the database with the file while no server runs, and delete the files next to the
	// database that end in -wal and -shm.
	Backup(ctx context.Context, file string) (size int64, err error)
	// Files returns the files of the database, existing or not: the database first. PostgreSQL has none.
	Files() []string
	compact(ctx context.Context) error
}

// listKind is the type of the elements of a list parameter.
type listKind int

const (
	texts listKind = iota
	numbers
)

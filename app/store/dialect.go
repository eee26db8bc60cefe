package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver"
)

// dialect is what differs between SQLite (sqlite.go) and PostgreSQL (postgres.go). All other statements are written
// once, in SQL that both read, with ? for parameters. docs/adr/0027 says how they are kept alike.
type dialect interface {
	// named is the database for people, without a password.
	named() string
	// open opens the pools.
	open(ctx context.Context) error
	// close closes what open opened besides the pools.
	close() error
	// driver is River's.
	driver() riverdriver.Driver[*sql.Tx]
	// goose is goose's word for the database.
	goose() goose.Dialect
	// versioned is a query whether goose has made its table, which has the schema's version.
	versioned() string
	// schema is a migration, which is written as SQLite reads it, for this database.
	schema(migration string) string
	// rights is an error when the user has no right to make the tables, or to write to those that are there.
	rights(ctx context.Context) error
	// background is work beside everything else, until ctx ends.
	background(ctx context.Context)

	// begin begins a transaction that writes, and done ends what it holds besides.
	begin(ctx context.Context) (tx *sql.Tx, done func(), err error)
	// committers is how many transactions that save deliveries are worth running beside each other.
	committers() int
	// again reports whether a transaction that ended in an error may go well when it is run again.
	again(err error) bool
	// hold has a transaction wait until no other one holds the same thing; it is held until the transaction ends.
	hold(ctx context.Context, tx *sql.Tx, what string) error
	// view begins a transaction that reads everything as it was at one moment.
	view(ctx context.Context) (*sql.Tx, error)
	// message says, for people, what an error of the database means and what to do; "" for one that says so itself.
	message(err error) string

	// shared reports whether several processes work on the database.
	shared() bool
	// claim has this process, and no other, work on jobs.
	claim(ctx context.Context) (unlock func() error, err error)
	// revive makes jobs of a process that died available again.
	revive(ctx context.Context) (jobs int64, err error)

	// stamp is a time as River stores it.
	stamp(t time.Time) any
	// leaseClock is the clock by which leases run out, which all engines share: microseconds since 1970 UTC, in SQL.
	leaseClock() string

	// among is the condition that a value, which stands before it, is one of a parameter that is a JSON array.
	among(kind listKind) string
	// repoOf is the repository that a column with a task's id names.
	repoOf(column string) string

	// locked comes after a SELECT of rows that are then changed, so that nobody else changes them in between.
	locked() string

	// columnsQuery lists the columns of SIA's tables: table, column, type, place in the primary key from 1, and whether
	// the table has rowids.
	columnsQuery() string
	// copied has new rows of a table go on after those that were copied with their numbers.
	copied(ctx context.Context, tx *sql.Tx, t table) error
	// quiet makes sure that no server works on the database; on SQLite none begins to, until it is released.
	quiet(ctx context.Context) (release func() error, err error)
	// alone keeps other moves to the database out until it is released, and deletes what trials of theirs left that were
	// killed.
	alone(ctx context.Context) (release func() error, err error)
	// aside makes an empty place beside the database, in which a move can be tried.
	aside(ctx context.Context, c Config) (_ Config, drop func() error, err error)

	// Backup writes a copy of the database to a file that does not exist yet, readable by its owner
	// alone: everything as it was at one moment, whatever is written meanwhile, by this process or another.
	// The copy is whole and was checked when it appears under its name; it takes as long as reading and
	// writing the database does, and that much room beside the file. size is in bytes.
	//
	// To restore it, put the file in the database's place while no server runs, without the files
	// ending in -wal and -shm that lie beside it.
	Backup(ctx context.Context, file string) (size int64, err error)
	// Files are the files of the database, whether they are there now or not: the database first. PostgreSQL's are its
	// own affair: none.
	Files() []string
	compact(ctx context.Context) error
}

// listKind is what a list holds.
type listKind int

const (
	texts listKind = iota
	numbers
)

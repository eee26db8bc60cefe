package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"

	"github.com/sia-bot/sia/app/lease"
	"github.com/sia-bot/sia/sia"
)

// ErrNotFound is wrapped by errors about a task, effect or other row that does
// not exist.
var ErrNotFound = errors.New("not found")

// Config says which database to open.
type Config struct {
	// URL is "sqlite:/path/sia.db", or just the path: the file and its folder are made when they do not exist. Or it is
	// "postgres://user:password@host:5432/database": the database must exist.
	URL string
	// DirectURL is where PostgreSQL itself is, when URL leads to a pooler such as PgBouncer: notifications are heard
	// there. Empty: at URL.
	DirectURL string
	// Logger is told of every event that is applied; nil: nothing is logged.
	Logger *slog.Logger
	// Now is the clock, also the engine's. It must be safe for concurrent use. Nil: the machine's; where the database is
	// PostgreSQL's, set by its server's.
	Now func() time.Time
}

// Store is the database: a type for each entity, over one [DB]. Whoever wires the rooms has all of it; a room declares
// the few methods that it needs. Close it when done.
type Store struct {
	*DB
	TaskStore
	TranscriptStore
	CreditStore
	DeliveryStore
	DecisionStore
	OutcomeStore
	PolicyStore
	ExperimentStore
	TrialStore
	LessonStore
	PriorStore
	MemoryStore
	InstallationStore
	SetupStore
	HaltStore
	NoticeStore
	PersonStore
	RunnerStore
	WriteStore
}

type (
	// TaskStore has the tasks with their logs and effects. Its [TaskStore.Apply] is the only way in which a task changes.
	TaskStore struct{ *DB }
	// TranscriptStore has what attempts said and did, and the texts that SIA wrote for people.
	TranscriptStore struct{ *DB }
	// CreditStore sums what was spent.
	CreditStore struct{ *DB }
	// DeliveryStore has the webhooks and the comments that were heard.
	DeliveryStore struct {
		*DB
		inbox    *groupCommit[*savedDelivery]
		closings *groupCommit[closedDelivery]
	}
	// DecisionStore has the decisions with their outcomes and tallies.
	DecisionStore struct{ *DB }
	// OutcomeStore has what learners count: outcomes of techniques and coders, ends of tasks, flips of checks.
	OutcomeStore struct{ *DB }
	// PolicyStore has the policies of repositories, their versions and holds.
	PolicyStore struct{ *DB }
	// ExperimentStore has the experiments on policies, with their tasks and events.
	ExperimentStore struct{ *DB }
	// TrialStore has the techniques on trial in repositories.
	TrialStore struct{ *DB }
	// LessonStore has the lessons with their evidence, and finds them by words.
	LessonStore struct{ *DB }
	// PriorStore has the priors that were imported, and the reports that were shared.
	PriorStore struct{ *DB }
	// MemoryStore has the heads of the memory branches.
	MemoryStore struct{ *DB }
	// InstallationStore has the installations, their repositories and the repositories' settings.
	InstallationStore struct{ *DB }
	// SetupStore has the repositories that wait to be made ready.
	SetupStore struct{ *DB }
	// HaltStore has the pauses over repositories, installations and all.
	HaltStore struct{ *DB }
	// NoticeStore has what was sent to notification channels.
	NoticeStore struct{ *DB }
	// WriteStore counts what is created on GitHub, against its limits.
	WriteStore struct{ *DB }
)

// DB is one database with what all entities share: its pools, its transactions, the jobs and the schema.
type DB struct {
	dialect

	log *slog.Logger
	now func() time.Time

	w     *sql.DB // for the application's writes
	r     *sql.DB // for reading
	river *sql.DB // for River

	commits  *commits
	filled   filled
	writable atomic.Bool // see mayWrite
	refused  atomic.Pointer[refusal]

	jobs *river.Client[*sql.Tx] // inserts jobs, works none

	work   sync.WaitGroup // what runs until Close
	cancel context.CancelFunc
}

// Open opens the database without changing it: call [DB.Migrate] before
// anything else when its schema may be older than this program.
func Open(ctx context.Context, c Config) (*Store, error) {
	db, err := openDB(ctx, c)
	if err != nil {
		return nil, err
	}
	s := &Store{
		DB: db, TaskStore: TaskStore{db}, TranscriptStore: TranscriptStore{db}, CreditStore: CreditStore{db},
		DeliveryStore: DeliveryStore{DB: db}, DecisionStore: DecisionStore{db}, OutcomeStore: OutcomeStore{db},
		PolicyStore: PolicyStore{db}, ExperimentStore: ExperimentStore{db}, TrialStore: TrialStore{db},
		LessonStore: LessonStore{db}, PriorStore: PriorStore{db}, MemoryStore: MemoryStore{db},
		InstallationStore: InstallationStore{db}, SetupStore: SetupStore{db}, HaltStore: HaltStore{db},
		NoticeStore: NoticeStore{db}, PersonStore: PersonStore{db}, RunnerStore: RunnerStore{db}, WriteStore: WriteStore{db},
	}
	var running context.Context
	running, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.inbox = newGroupCommit(running.Done(), s.saveDeliveries)
	s.closings = newGroupCommit(running.Done(), s.closeDeliveries)
	for range s.committers() {
		s.work.Go(func() { s.inbox.run(running) })
	}
	s.work.Go(func() { s.closings.run(running) })
	s.work.Go(func() { s.background(running) })
	return s, nil
}

func openDB(ctx context.Context, c Config) (*DB, error) {
	s := &DB{log: c.Logger, now: c.Now, commits: newCommits()}
	path, err := File(c.URL)
	if err == nil && path == "" {
		s.dialect, err = newPostgres(s, c)
	} else {
		s.dialect = &sqliteDialect{DB: s, path: path}
	}
	if err != nil {
		return nil, err
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(s.explain("open the database "+s.named(), err), s.closePools())
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.jobs, err = river.NewClient(s.driver(), s.riverConfig())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("set up the job engine: %w", err), s.closePools())
	}
	return s, nil
}

// CheckRights is an error when the database would take no writes of ours: the user has no right to them.
func (s *DB) CheckRights(ctx context.Context) error { return s.rights(ctx) }

// Now is the time by the store's clock, which all processes on a database share.
func (s *DB) Now() time.Time { return s.now() }

// Close ends the store. Stop the engine first.
func (s *Store) Close() error {
	s.cancel()
	s.work.Wait()
	return s.closePools()
}

func (s *DB) closePools() error {
	var errs []error
	for _, db := range []*sql.DB{s.r, s.river, s.w} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(append(errs, s.close())...)
}

// A transaction is tried again when it got into another's way, or when its server went away. The first retry is soon,
// and there are so many that a server can change over to its standby and lose nothing that somebody waits for.
const (
	writeTries = 20
	writePause = 5 * time.Millisecond // after the first try; twice as long each time, up to a second
)

// write runs f in one transaction of the application's pool. An error of f or of the database undoes all of it. A
// handler without a valid lease writes nothing.
//
// On PostgreSQL transactions run beside each other, and f runs again when its transaction got into another's way: it
// must set anew whatever it sets outside of itself. What it reads and then writes by, another transaction may change in
// between, unless both hold the same thing first (see [DB.hold]).
func (s *DB) write(ctx context.Context, op string, f func(tx *sql.Tx) error) error {
	if err := s.mayWrite(ctx); err != nil {
		return s.explain(op, err)
	}
	pause := writePause
	for try := 1; ; try++ {
		err := s.try(ctx, f)
		if err == nil || try == writeTries || ctx.Err() != nil || !s.again(err) {
			s.noteRefusal(ctx, err)
			return s.explain(op, err)
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
		}
		pause = min(2*pause, time.Second)
	}
}

// refusal is a write that the database did not take.
type refusal struct {
	at  time.Time
	why string
}

// refusedFor is how long one speaks for the next ones. It ends by itself: who is not ready is given nothing to write.
const refusedFor = 30 * time.Second

func (s *DB) noteRefusal(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil || s.again(err) {
		return
	}
	if why := s.message(err); why != "" {
		s.refused.Store(&refusal{time.Now(), why})
	}
}

// Refused is why the database did not take a write in the last half minute, such as a full disk or a standby in the
// primary's place; empty: it took them all.
func (s *DB) Refused() string {
	if r := s.refused.Load(); r != nil && time.Since(r.at) < refusedFor {
		return r.why
	}
	return ""
}

func (s *DB) try(ctx context.Context, f func(tx *sql.Tx) error) error {
	if err := lease.Check(ctx); err != nil {
		return err
	}
	tx, done, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	defer s.filled.take(tx)
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return &commitError{err}
	}
	s.commits.done(s.filled.take(tx))
	return nil
}

// commitError is an error of a commit, which may have been carried out all the same.
type commitError struct{ error }

func (e *commitError) Unwrap() error { return e.error }

// explain names the operation of an error and, where a person can do something about the database's trouble, says what.
func (s *DB) explain(op string, err error) error {
	if err == nil {
		return nil
	}
	var known *sia.Error
	if errors.As(err, &known) {
		return err
	}
	if message := s.message(err); message != "" {
		return &sia.Error{Op: op, Message: message, Err: err}
	}
	return fmt.Errorf("%s: %w", op, err)
}

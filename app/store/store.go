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

// ErrNotFound is wrapped by the errors for a task, effect or other row that does
// not exist.
var ErrNotFound = errors.New("not found")

// Config configures [Open].
type Config struct {
	// URL is "sqlite:/path/sia.db", or just the path: the file and its folder are created if missing. Or it is
	// "postgres://user:password@host:5432/database": the database must exist.
	URL string
	// DirectURL is the address of PostgreSQL itself when URL points to a pooler such as PgBouncer. Notifications are
	// received on this connection. Empty: URL is used.
	DirectURL string
	// Logger logs every applied event; nil: nothing is logged.
	Logger *slog.Logger
	// Now is the clock of the store and the engine. It must be safe for concurrent use. Nil: the machine's clock, which
	// is adjusted to the server's clock on PostgreSQL.
	Now func() time.Time
}

// Store is the database: one type for each entity, over one [DB]. Package app has all of it; the other packages declare
// interfaces with the few methods that they need. Close it when done.
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
	// TaskStore stores the tasks with their logs and effects. Only [TaskStore.Apply] changes a task.
	TaskStore struct{ *DB }
	// TranscriptStore stores the transcripts of attempts, and the texts that SIA wrote for users.
	TranscriptStore struct{ *DB }
	// CreditStore sums the credits that were spent.
	CreditStore struct{ *DB }
	// DeliveryStore stores the webhooks and the comments that were received.
	DeliveryStore struct {
		*DB
		inbox    *groupCommit[*savedDelivery]
		closings *groupCommit[closedDelivery]
	}
	// DecisionStore stores the decisions with their outcomes and tallies.
	DecisionStore struct{ *DB }
	// OutcomeStore stores the input of learners: outcomes of techniques and coders, ends of tasks, flips of checks.
	OutcomeStore struct{ *DB }
	// PolicyStore stores the policies of repositories, their versions and holds.
	PolicyStore struct{ *DB }
	// ExperimentStore stores the experiments on policies, with their tasks and events.
	ExperimentStore struct{ *DB }
	// TrialStore stores the techniques on trial in repositories.
	TrialStore struct{ *DB }
	// LessonStore stores the lessons with their evidence, and searches them by words.
	LessonStore struct{ *DB }
	// PriorStore stores the imported priors and the shared reports.
	PriorStore struct{ *DB }
	// MemoryStore stores the heads of the memory branches.
	MemoryStore struct{ *DB }
	// InstallationStore stores the installations, their repositories and the settings of the repositories.
	InstallationStore struct{ *DB }
	// SetupStore stores the setup state of repositories.
	SetupStore struct{ *DB }
	// HaltStore stores the pauses of repositories, of installations and of the whole server.
	HaltStore struct{ *DB }
	// NoticeStore stores what was sent to notification channels.
	NoticeStore struct{ *DB }
	// WriteStore counts the requests that create content on GitHub, against GitHub's limits.
	WriteStore struct{ *DB }
)

// DB is one database with everything that the entities share: pools, transactions, jobs and schema.
type DB struct {
	dialect

	log *slog.Logger
	now func() time.Time

	w     *sql.DB // for the application's writes
	r     *sql.DB // for reading
	river *sql.DB // for River

	commits   *commits
	jobQueues jobQueues
	writable  atomic.Bool // see checkWritable
	refused   atomic.Pointer[refusal]
	outage    outage
	outageLog *slog.Logger // logs outages themselves

	jobs      *river.Client[*sql.Tx] // insert-only
	fetchPoll time.Duration          // see the constant; set by a test

	work   sync.WaitGroup // goroutines that run until Close
	cancel context.CancelFunc
}

// Open opens the database without changing it. Call [DB.Migrate] before
// anything else when the schema may be older than this program.
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
	s.outageLog, s.log = s.log, slog.New(outageHandler{s.log.Handler(), s})
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(s.explain("open the database "+s.name(), err), s.closePools())
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

// CheckRights returns an error when the database user has no right to write.
func (s *DB) CheckRights(ctx context.Context) error { return s.checkRights(ctx) }

// Now returns the time of the store's clock, which all processes on a database share.
func (s *DB) Now() time.Time { return s.now() }

// Close closes the store. Stop the engine first.
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

// A transaction is retried when it conflicted with another, or when the connection to the server was lost. The first
// retry is soon, and there are enough retries to outlast a failover to a standby.
const (
	writeTries = 20
	writePause = 5 * time.Millisecond // after the first try; twice as long each time, up to a second
)

// write runs f in one transaction of the application's pool. An error of f or of the database undoes all of it. A
// handler without a valid lease writes nothing.
//
// On PostgreSQL transactions run concurrently, and f runs again when its transaction conflicted with another: it must
// reset all variables that it sets outside of itself. Between its reads and its writes another transaction may change
// the rows, unless both take the same lock first (see [DB.advisoryLock]).
func (s *DB) write(ctx context.Context, op string, f func(tx *sql.Tx) error) error {
	if err := s.checkWritable(ctx); err != nil {
		return s.explain(op, err)
	}
	pause := writePause
	for try := 1; ; try++ {
		err := s.tryWrite(ctx, f)
		s.recordReach(ctx, try, err)
		if err == nil || try == writeTries || ctx.Err() != nil || !s.retryable(err) {
			s.recordRefusal(ctx, err)
			return s.explain(op, err)
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
		}
		pause = min(2*pause, time.Second)
	}
}

// refusal is a write that the database rejected.
type refusal struct {
	at  time.Time
	why string
}

// refusalTTL is how long a refusal makes the store not ready. It expires: a server that is not ready receives nothing
// to write, so no successful write could end it.
const refusalTTL = 30 * time.Second

func (s *DB) recordRefusal(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil || s.retryable(err) {
		return
	}
	if why := s.message(err); why != "" {
		s.refused.Store(&refusal{time.Now(), why})
	}
}

// Refused returns why the database rejected a write in the last half minute, such as a full disk or a standby instead
// of the primary; empty: it rejected none.
func (s *DB) Refused() string {
	if r := s.refused.Load(); r != nil && time.Since(r.at) < refusalTTL {
		return r.why
	}
	return ""
}

func (s *DB) tryWrite(ctx context.Context, f func(tx *sql.Tx) error) error {
	if err := lease.Check(ctx); err != nil {
		return err
	}
	tx, done, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	defer s.jobQueues.take(tx)
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return &commitError{err}
	}
	s.commits.announce(s.jobQueues.take(tx))
	return nil
}

// commitError is an error of a commit. The commit may have succeeded nevertheless.
type commitError struct{ error }

func (e *commitError) Unwrap() error { return e.error }

// explain adds the operation to an error and, if the user can fix the problem with the database, how.
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

package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/sia-bot/sia/sia"
)

// The queues. Each has workers of its own, so that attempts, which take long,
// delay nothing else.
const (
	queueDeliveries = "deliveries"
	queueEffects    = "effects"
	queueAttempts   = "attempts"
	queueTests      = "tests"
	queuePeriodic   = "periodic"
	queueSetups     = "setups"
)

const (
	// jobAttempts is practically unlimited: the rows of deliveries and effects count
	// the tries and limit them.
	jobAttempts = 10_000

	// River's default, 100 ms, slows every step of a task.
	fetchCooldown = 10 * time.Millisecond
	// Workers are notified of jobs that are due at once, see commits.go. This is the maximum delay of a job that was
	// scheduled for later, or that a dead process left. A shorter interval costs an idle server CPU time.
	fetchPoll = time.Second

	// Finished jobs are not needed: rows of deliveries and effects have the
	// result. Keeping none is not possible, because 0 means 24 hours.
	jobRetention = 10 * time.Minute
)

// riverConfig returns the common configuration of the insert-only client and the engine's.
func (s *DB) riverConfig() *river.Config {
	c := &river.Config{
		FetchCooldown:               fetchCooldown,
		FetchPollInterval:           cmp.Or(s.fetchPoll, fetchPoll),
		CompletedJobRetentionPeriod: jobRetention,
		CancelledJobRetentionPeriod: jobRetention,
		JobTimeout:                  -1, // the workers set their own
		// Leave unknown kinds of jobs to servers of a newer version. This is slower, and needless for a single process.
		FetchOnlyKnownKinds: s.shared(),
		Logger:              warningsOnly(s.log, &s.outage),
		Hooks:               []rivertype.Hook{&runAtHook{}},
	}
	c.Test.Time = &riverClock{s.now}
	return c
}

// insert inserts a job that is due at a time, and notifies its workers when tx is committed.
func (s *DB) insert(ctx context.Context, tx *sql.Tx, args river.JobArgs, queue string, at time.Time) (int64, error) {
	opts := &river.InsertOpts{Queue: queue, MaxAttempts: jobAttempts}
	if at.After(s.now()) {
		opts.ScheduledAt = at
	}
	s.jobQueues.add(tx, commonQueue(queue))
	job, err := s.jobs.InsertTx(ctx, tx, args, opts)
	if err != nil {
		return 0, err
	}
	return job.Job.ID, nil
}

// complete marks a job completed within a transaction. A job that was deleted meanwhile is no error.
func complete[T river.JobArgs](ctx context.Context, tx *sql.Tx, job *river.Job[T]) error {
	_, err := river.JobCompleteTx[commitDriver](ctx, tx, job)
	if errors.Is(err, rivertype.ErrNotFound) {
		return nil
	}
	return err
}

// effectsWithoutWorker lists the pending effects that have no lease, or an expired one, and no job: none of their jobs
// waits, and a running job has lost its lease, or took none and began before begunBefore, by River's clock.
func (s *DB) effectsWithoutWorker(ctx context.Context, tx *sql.Tx, begunBefore time.Time) ([]sia.Effect, error) {
	return collect(ctx, tx, scanJSON[sia.Effect], `SELECT effect FROM effects e
		WHERE state = 'pending' AND lease_until <= `+s.leaseClock()+` AND NOT EXISTS (SELECT 1 FROM river_job j
			WHERE j.id = e.job_id AND j.kind = 'effect' AND j.args ->> 'key' = e.key
				AND (j.state IN ('available', 'pending', 'retryable', 'scheduled')
					OR j.state = 'running' AND e.lease_until = 0 AND j.attempted_at > ?)) ORDER BY created_at, key`+s.forUpdate(),
		s.stamp(begunBefore))
}

// unfinished counts the running jobs, and returns when the next waiting job is due; zero: none waits. It ignores the
// jobs of held effects. River writes the end of jobs in batches, up to a quarter of a second later, so the query uses
// the state of deliveries and setups.
func (s *DB) unfinished(ctx context.Context, held []string) (running int, next time.Time, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT count(CASE WHEN state = 'running' THEN 1 END),
			min(CASE WHEN state <> 'running' THEN scheduled_at END)
		FROM river_job WHERE state IN ('running', 'available', 'scheduled', 'retryable')
		AND NOT (kind = 'effect' AND args ->> 'key' `+s.inList(texts)+`)
		AND NOT (kind = 'deliveries' AND NOT EXISTS (SELECT 1 FROM deliveries
			WHERE state = 'pending' AND args ->> 'guids' LIKE '%"' || guid || '"%'))
		AND NOT (kind = 'setup' AND EXISTS (SELECT 1 FROM setups
			WHERE repo_id = CAST(args ->> 'repo' AS bigint) AND state <> 'pending'
				AND coalesce(checks, 0) >= 0))`,
		jsonArray[string](held)).Scan(&running, jobTime{&next})
	return running, next, s.explain("count unfinished jobs", err)
}

// riverTime is River's layout for times on SQLite, in UTC: timeString of
// https://github.com/riverqueue/river/blob/v0.51.1/riverdriver/riversqlite/river_sqlite_driver.go
const riverTime = "2006-01-02 15:04:05.000"

// jobTime is a sql.Scanner for a time of a job; NULL leaves *to unchanged.
type jobTime struct{ to *time.Time }

// Scan implements sql.Scanner.
func (t jobTime) Scan(v any) (err error) {
	switch v := v.(type) {
	case time.Time:
		*t.to = v
	case string:
		*t.to, err = time.Parse(riverTime, v)
	}
	return err
}

// runAtHook inserts jobs that are scheduled for later in the state available.
// Otherwise River's scheduler would change the state at that time, up to five
// seconds late. Workers don't take an available job before its time; River
// relies on that itself for short retries.
type runAtHook struct{ river.HookDefaults }

// InsertBegin implements rivertype.HookInsertBegin.
func (*runAtHook) InsertBegin(_ context.Context, p *rivertype.JobInsertParams) error {
	if p.State == rivertype.JobStateScheduled {
		p.State = rivertype.JobStateAvailable
	}
	return nil
}

// riverClock makes River use the store's clock.
type riverClock struct{ now func() time.Time }

// Now implements rivertype.TimeGenerator.
func (c *riverClock) Now() time.Time { return c.now() }

// NowOrNil implements rivertype.TimeGenerator.
func (c *riverClock) NowOrNil() *time.Time {
	t := c.now()
	return &t
}

// warningsOnly returns a logger for River that logs only warnings and errors, as those of the job engine. The
// workers log errors of jobs themselves, with the task. While the database is away, River has nothing else to say.
func warningsOnly(l *slog.Logger, o *outage) *slog.Logger {
	return slog.New(warningHandler{l.With("by", "job engine").Handler(), &sync.Map{}, o})
}

// warnEvery is the minimum interval between two of River's warnings with the same message: each queue polls once a
// second, and warns each time while the database is unavailable.
const warnEvery = time.Minute

type warningHandler struct {
	slog.Handler
	last *sync.Map // time of the last log, by message; River's messages are constants
	o    *outage
}

// Enabled passes on warnings and errors.
func (h warningHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && !h.o.away() && h.Handler.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h warningHandler) Handle(ctx context.Context, r slog.Record) error {
	at, _ := h.last.Load(r.Message)
	if last, said := at.(time.Time); said && r.Time.Sub(last) < warnEvery {
		return nil
	}
	h.last.Store(r.Message, r.Time)
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h warningHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warningHandler{h.Handler.WithAttrs(attrs), h.last, h.o}
}

// WithGroup implements slog.Handler.
func (h warningHandler) WithGroup(name string) slog.Handler {
	return warningHandler{h.Handler.WithGroup(name), h.last, h.o}
}

// backoff returns the delay after the failed-th failed try: four times longer each
// time, up to about 17 minutes, with a random jitter of up to a quarter, so that
// simultaneous failures are not retried simultaneously.
func backoff(failed int) time.Duration {
	d := time.Second << (2 * min(max(failed-1, 0), 5))
	return d*3/4 + rand.N(d/2)
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/sia-bot/sia/app/lease"
	"github.com/sia-bot/sia/sia"
)

// The engine that holds the lease of an effect carries it out. A lease is a token, a holder and an expiry time in the
// effect's row. The engine renews the leases of its running effects at every heartbeat, six times before they expire.
// If it is delayed for longer, the contexts of its handlers end, its outcomes are dropped because they have an old
// token (saveOutcome, postpone), and another engine starts the effect again (takeOver). See docs/adr/0026-leases.md.

// ErrLeaseLost is the cause with which the context of a running handler ends when the lease of its effect expired or
// another engine took it. The result of the handler is dropped then.
var ErrLeaseLost = lease.ErrLost

const (
	leaseLength = time.Minute
	// renewalsPerLease is the number of renewals before a lease expires.
	renewalsPerLease = 6
	// leaseMargin is the fraction of a lease, 1/12 or 5 s of a minute, before its end when a worker stops writing: a
	// request that was sent takes a while.
	leaseMargin = 12
)

// heldLease is one run of an effect in this engine, with its lease.
type heldLease struct {
	e      *Engine
	key    string
	job    string          // the effect that the job was made for
	ctx    context.Context // the handler's
	cancel context.CancelCauseFunc

	f     EffectRecord  // as read when the lease was taken
	token int64         // 0: the lease was not taken
	left  time.Duration // until another engine's lease expires, by the database's clock

	// set while the lease is held
	lease *lease.Lease
	timer *time.Timer // cancels ctx when the lease expires
}

// newLease returns a run without a lease.
func (e *Engine) newLease(ctx context.Context, key, job string) *heldLease {
	h := &heldLease{e: e, key: key, job: job, lease: lease.Until(time.Time{})}
	ctx, h.cancel = context.WithCancelCause(ctx)
	h.ctx = lease.With(ctx, h.lease)
	return h
}

// take takes the lease of an effect. The caller must end it. held is nil when the effect is not pending, or when
// another run has the lease, in this engine or another: left is the time to wait before the next try.
func (e *Engine) take(ctx context.Context, key, job string) (
	held *heldLease, f EffectRecord, left time.Duration, err error,
) {
	h := e.newLease(ctx, key, job)
	if other := e.register(h); other != nil {
		h.cancel(nil)
		f, err = e.s.Effect(ctx, key)
		if f.Cancelled { // River canceled the worker of the newest job, which is not the running one
			other.cancel(ErrCancelled)
		}
		return nil, f, e.c.Lease, err
	}
	began := time.Now()
	err = e.s.write(ctx, "take the lease of effect "+key, func(tx *sql.Tx) error { return h.takeTx(ctx, tx) })
	if !h.activate(began, err) {
		return nil, h.f, h.left, err
	}
	return h, h.f, 0, nil
}

// takeTx takes the lease of a pending effect if it is free, or if an ended run of this engine holds it.
func (h *heldLease) takeTx(ctx context.Context, tx *sql.Tx) error {
	h.token = 0
	now := h.e.s.leaseClock()
	taken := tx.QueryRowContext(ctx, `UPDATE effects
		SET lease_token = lease_token + 1, lease_holder = ?, lease_until = `+now+` + ?
		WHERE key = ? AND state = 'pending' AND (lease_until <= `+now+` OR lease_holder = ?)
		RETURNING `+effectColumns+`, lease_token`, h.e.holder, h.e.c.Lease.Microseconds(), h.key, h.e.holder)
	var err error
	if h.f, err = scanEffectWith(taken, &h.token); !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	var micros int64
	h.f, err = scanEffectWith(tx.QueryRowContext(ctx, `SELECT `+effectColumns+`, lease_until - `+now+` FROM effects
		WHERE key = ?`, h.key), &micros)
	h.left = time.Duration(micros) * time.Microsecond
	return orNotFound(err)
}

// activate starts the timer of a lease that was taken in a transaction, which returned err and began at the time began.
// It reports whether the lease was taken. If not, it ends the run.
func (h *heldLease) activate(began time.Time, err error) bool {
	if err != nil || h.token == 0 {
		h.end()
		return false
	}
	h.e.mu.Lock()
	defer h.e.mu.Unlock()
	h.timer = time.AfterFunc(h.e.c.Lease, func() { h.cancel(ErrLeaseLost) })
	h.extend(began.Add(h.e.c.Lease))
	return true
}

// extend sets a new end of a held lease.
func (h *heldLease) extend(end time.Time) {
	h.lease.Extend(end.Add(-h.e.c.Lease / leaseMargin))
	h.timer.Reset(time.Until(end))
}

// register registers a run of this engine, unless there is one of the same effect, which it returns.
func (e *Engine) register(h *heldLease) (other *heldLease) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if other = e.held[h.key]; other == nil {
		e.held[h.key] = h
	}
	return other
}

// end ends a run. It does not end the lease: the transaction that closes or postpones the effect does that, or release.
// Callers that postpone the effect end its run first, because the next run may begin as soon as that is committed.
func (h *heldLease) end() {
	if h.timer != nil {
		h.timer.Stop()
	}
	h.cancel(nil)
	h.e.mu.Lock()
	defer h.e.mu.Unlock()
	if h.e.held[h.key] == h {
		delete(h.e.held, h.key)
	}
}

// release ends a run and its lease, so that the next run need not wait until the lease expires.
func (h *heldLease) release(ctx context.Context) {
	h.end()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	if err := h.e.s.exec(ctx, "give back the lease of effect "+h.key, `UPDATE effects SET lease_until = 0
		WHERE key = ? AND state = 'pending' AND lease_token = ?`, h.key, h.token); err != nil {
		h.e.s.log.WarnContext(ctx, "lease not given back; it runs out by itself", "task", taskOf(h.key), "effect", h.key,
			"err", err)
	}
}

// waitForLease postpones a job until another run's lease of its effect expires.
func (w *effectWorker) waitForLease(ctx context.Context, job *river.Job[effectArgs], delay time.Duration) error {
	s := w.e.s
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	s.log.InfoContext(ctx, "effect is carried out by another worker", "task", taskOf(job.Args.Key), "effect",
		job.Args.Key, "looks again in", delay)
	err := s.write(ctx, "wait for a lease", func(tx *sql.Tx) error {
		if err := complete(ctx, tx, job); err != nil {
			return err
		}
		return s.insertJob(ctx, tx, job.Args.Key, job.Queue, s.now().Add(delay))
	})
	if err != nil {
		s.log.ErrorContext(ctx, "effect not put off", "task", taskOf(job.Args.Key), "effect", job.Args.Key, "err", err)
		return river.JobSnooze(delay)
	}
	return nil
}

// heartbeat renews the leases of this engine and takes over expired ones, until ctx ends.
func (e *Engine) heartbeat(ctx context.Context) {
	beats := e.c.Heartbeats
	if beats == nil {
		t := time.NewTicker(e.c.Lease / renewalsPerLease)
		defer t.Stop()
		beats = t.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-beats:
		}
		e.heartbeatOnce(ctx)
	}
}

// heartbeatOnce runs one heartbeat. Its timeout keeps an unresponsive database from blocking the next ones.
func (e *Engine) heartbeatOnce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	e.renew(ctx)
	if err := e.s.Newer(ctx); sia.IsPermanent(err) && e.c.Shared { // a failure to read the version is temporary
		e.newer.Do(func() {
			e.s.log.WarnContext(ctx, "a newer SIA has migrated the database: this server goes on with what it knows; "+
				"update it", "err", err)
		})
	}
	if err := e.requeueAbandoned(ctx); err != nil && !isCanceled(ctx) {
		e.s.log.ErrorContext(ctx, "could not look for jobs of processes that ended", "err", err)
	}
	if n, err := e.s.takeOver(ctx, e.c.Lease); err != nil && !isCanceled(ctx) {
		e.s.log.ErrorContext(ctx, "could not look for effects of workers that ended", "err", err)
	} else if n > 0 {
		e.s.log.WarnContext(ctx, "taking over effects whose worker was held up or ended", "effects", n)
	}
}

// isCanceled reports whether a heartbeat was canceled, rather than timed out.
func isCanceled(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// trackJob is River middleware that records a running job, for requeueAbandoned, and its end, for the shares of
// installations. It is middleware because no worker is called for a job with arguments that River can't decode.
func (e *Engine) trackJob(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
	if sh := e.shares[job.Queue]; sh != nil {
		defer func() {
			if sh.end(job.ID) {
				e.s.commits.announce([]string{job.Queue})
			}
		}()
	}
	if job.Kind == (effectArgs{}).Kind() {
		return work(ctx)
	}
	e.mu.Lock()
	e.otherJobs[job.ID] = true
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.otherJobs, job.ID)
	}()
	return work(ctx)
}

// requeueAbandoned makes jobs of kinds without leases (deliveries, setups and periodic jobs) available again if they
// are marked running and no engine has confirmed that for the length of a lease. Either their process has ended, or the
// connection broke while it fetched them. First it confirms the jobs of this engine. Without EngineConfig.Shared it
// does nothing, because Start does this. Each of these jobs can safely run twice.
func (e *Engine) requeueAbandoned(ctx context.Context) error {
	if !e.c.Shared {
		return nil
	}
	now := e.s.now()
	e.mu.Lock()
	mine := jsonArray[int64](slices.Collect(maps.Keys(e.otherJobs)))
	e.mu.Unlock()
	if len(mine) > 0 {
		if err := e.s.exec(ctx, "be heard of", `UPDATE river_job SET attempted_at = ?
			WHERE state = 'running' AND id `+e.s.inList(numbers), e.s.stamp(now), mine); err != nil {
			return err
		}
	}
	return e.s.exec(ctx, "look for jobs that were left", `UPDATE river_job SET state = 'available'
		WHERE state = 'running' AND kind <> ? AND attempted_at < ?`, effectArgs{}.Kind(), e.s.stamp(now.Add(-e.c.Lease)))
}

// renew renews the leases of this engine's runs. It cancels a handler when another engine has its lease. When the
// write fails nothing is renewed, and timers cancel the handlers.
func (e *Engine) renew(ctx context.Context) {
	began := time.Now()
	mine := map[string]*heldLease{} // by key
	var keys []string
	e.mu.Lock()
	for key, h := range e.held {
		if h.timer != nil { // the lease was taken
			mine[key] = h
			keys = append(keys, key)
		}
	}
	e.mu.Unlock()
	if len(keys) == 0 {
		return
	}
	type token struct { // the newest of an effect
		key       string
		number    int64
		cancelled bool
	}
	var renewed []token
	err := e.s.write(ctx, "renew leases", func(tx *sql.Tx) (err error) {
		renewed, err = collect(ctx, tx, func(from row) (t token, err error) {
			err = from.Scan(&t.key, &t.number, &t.cancelled)
			return t, err
		}, `UPDATE effects SET lease_until = `+e.s.leaseClock()+` + ?
			WHERE key `+e.s.inList(texts)+` AND state = 'pending' AND lease_holder = ? AND lease_until > 0
			RETURNING key, lease_token, cancelled`, e.c.Lease.Microseconds(), jsonArray[string](keys), e.holder)
		return err
	})
	if err != nil {
		if !isCanceled(ctx) {
			e.s.log.ErrorContext(ctx, "leases not renewed", "effects", keys, "err", err)
		}
		return
	}
	for _, r := range renewed {
		if h := mine[r.key]; h.token == r.number {
			if r.cancelled { // the notification was missed
				h.cancel(ErrCancelled)
			}
			h.extend(began.Add(e.c.Lease))
			delete(mine, r.key)
		}
	}
	for _, h := range mine { // not renewed: taken over, or just ended
		h.cancel(ErrLeaseLost)
	}
}

// takeOver runs takeOverTx for effects without a worker for the duration length.
func (s *DB) takeOver(ctx context.Context, length time.Duration) (effects int, err error) {
	err = s.write(ctx, "take over effects", func(tx *sql.Tx) (err error) {
		effects, err = s.takeOverTx(ctx, tx, s.now().Add(-length))
		return err
	})
	return effects, err
}

// takeOverTx inserts a new job for each pending effect that has no worker and no waiting job: its lease expired, its
// job began before begunBefore without taking a lease, or it has no job. A run with a lease counts as a failed try, so
// that an effect that crashes its process is given up eventually. The running job is discarded; if its worker resumes,
// its token is outdated as soon as the new job begins.
func (s *DB) takeOverTx(ctx context.Context, tx *sql.Tx, begunBefore time.Time) (effects int, err error) {
	if err := s.advisoryLock(ctx, tx, "taking over"); err != nil {
		return 0, err
	}
	left, err := s.effectsWithoutWorker(ctx, tx, begunBefore)
	for _, f := range left {
		if _, err := tx.ExecContext(ctx, `UPDATE river_job SET state = 'discarded', finalized_at = ?
			WHERE state = 'running' AND id = (SELECT job_id FROM effects WHERE key = ?)`, s.stamp(s.now()), f.Key); err != nil {
			return 0, err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE effects
			SET tries = tries + CASE WHEN lease_until > 0 THEN 1 ELSE 0 END, lease_until = 0 WHERE key = ?`,
			f.Key); err != nil {
			return 0, err
		}
		if err := s.insertJob(ctx, tx, f.Key, queueOf(f), f.At); err != nil {
			return 0, err
		}
	}
	return len(left), err
}

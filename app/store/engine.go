package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/sia-bot/sia/sia"
)

// Handlers process deliveries, setups and effects. Each may be called again for the
// same item after a crash, a failure or a shutdown, so each checks first whether
// the work is done already.
//
// A handler's context ends when its timeout expires, when the engine stops,
// or, with the cause [ErrCancelled], when the effect was cancelled. The context of
// Effect carries a lease (package lease), ends with the cause [ErrLeaseLost]
// when that is lost, and records whether it is the [LastTry].
type Handlers struct {
	// Delivery turns a webhook into events and applies them.
	Delivery func(ctx context.Context, d Delivery) error
	// Setup sets up a repository and returns the resulting state. After an error it is
	// retried a few times; then the error is stored.
	Setup func(ctx context.Context, r Setup) (SetupResult, error)
	// Effect carries out an effect and returns its result; a nil
	// fact is sia.Done. It runs outside any transaction. Its outcome is applied
	// to the task, with the effect's key as the event's id, in the transaction
	// that completes the job. After an error it is retried, after the time of
	// [sia.RetryAfter] when that is longer than the back-off; an error that
	// is permanent, or of the last try, is applied as sia.EffectFailed.
	//
	// When the context was cancelled with ErrCancelled it may still return a
	// fact, which is applied. An attempt with saved turns that is cancelled
	// without a fact gets one more call, with such a context. When it returns an error because the engine stops, the
	// effect runs again after the next start, and the try does not count.
	Effect func(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error)
	// Spent returns the turns, the tokens and the cost of the saved part of an attempt. They are charged for an attempt
	// that was stopped or given up without a result. Nil: nothing is charged.
	Spent func(ctx context.Context, f sia.Effect) (sia.AttemptEnded, error)
	// Periodic is the list of periodic jobs.
	Periodic []Periodic
	// Boundary, for crash tests, is called before and after Effect, with when
	// "before" or "after"; nil in production. A panic in it simulates a crash at that
	// point: nothing of the try is stored, and the effect runs again.
	Boundary func(ctx context.Context, when string, f sia.Effect)
}

// EngineConfig configures an [Engine]. Zero fields take the defaults named.
type EngineConfig struct {
	Attempts   int // attempts at the same time; 2
	Effects    int // other effects of one installation at the same time; 8
	Deliveries int // deliveries at the same time, at most half of them of one installation; 16

	// AttemptTimeout returns the maximum duration of an attempt of a task: by
	// default the timeout of its settings and a grace period of 5 minutes.
	AttemptTimeout func(t sia.Task) time.Duration
	AttemptWait    time.Duration // additional time that an attempt or tests may wait for another machine to run them; 0
	FetchTimeout   time.Duration // of an effect that may fetch a whole repository first, and of a setup; 15 minutes
	// of an effect that asks a model; 50 minutes, longer than the limits of the fetch and of its questions together:
	// those must expire first, because the effect then falls back to rules
	AskTimeout      time.Duration
	EffectTimeout   time.Duration // of every other effect; 2 minutes
	DeliveryTimeout time.Duration // 1 minute

	Tries int // of an effect or delivery before it is given up; DefaultTries
	// the same if an outage is the reason of the last failure; 260, about the three days for which GitHub can send a
	// delivery again
	OutageTries int
	Backoff     func(failed int) time.Duration // after the failed-th failed try, 1-based; 1 s, 4 s, 16 s…, jittered
	// time between the stop of the engine and the end of the contexts of running handlers; 10 s
	Grace time.Duration

	// Lease is the duration of a lease; 1 minute. An effect is taken over from an engine that does not renew it.
	Lease time.Duration
	// Heartbeats triggers the renewal of leases and the takeover of expired ones; nil: six times in a Lease.
	Heartbeats <-chan time.Time
	// Server names the folder with the mirrors that this engine's handlers use, by lower-case letters and digits. For a
	// few seconds, long jobs of a repository are reserved for the server that ran them before. Empty, or a database
	// that is not shared: no server is preferred.
	Server string
	// Shared allows other engines to work on the database at the same time. No lock is taken then, and the unfinished
	// work of an engine is taken over when its leases have expired, instead of at the next start.
	Shared bool
}

// DefaultTries is the number of tries of an effect or delivery before it is given up.
const DefaultTries = 6

func (c EngineConfig) withDefaults() EngineConfig {
	c.Attempts = cmp.Or(c.Attempts, 2)
	c.Effects = cmp.Or(c.Effects, 8)
	c.Deliveries = cmp.Or(c.Deliveries, 16)
	c.FetchTimeout = cmp.Or(c.FetchTimeout, 15*time.Minute)
	c.AskTimeout = cmp.Or(c.AskTimeout, 50*time.Minute)
	c.EffectTimeout = cmp.Or(c.EffectTimeout, 2*time.Minute)
	c.DeliveryTimeout = cmp.Or(c.DeliveryTimeout, time.Minute)
	c.Tries = cmp.Or(c.Tries, DefaultTries)
	c.OutageTries = max(c.Tries, cmp.Or(c.OutageTries, 260))
	c.Grace = cmp.Or(c.Grace, 10*time.Second)
	c.Lease = cmp.Or(c.Lease, leaseLength)
	if c.Backoff == nil {
		c.Backoff = backoff
	}
	if c.AttemptTimeout == nil {
		c.AttemptTimeout = func(t sia.Task) time.Duration { return t.Settings.Agent.Timeout.D() + 5*time.Minute }
	}
	return c
}

// retries is River's retry policy. It applies to jobs that failed without a counted try, such as after a crash.
type retries struct{ e *Engine }

// NextRetry implements river.ClientRetryPolicy.
func (r retries) NextRetry(*rivertype.JobRow) time.Time { return r.e.s.now().Add(r.e.c.Backoff(1)) }

// givesUp reports whether an effect or delivery is given up after its tries-th try failed with err.
func (c EngineConfig) givesUp(tries int, err error) bool {
	return sia.IsPermanent(err) || tries >= c.OutageTries || tries >= c.Tries && !sia.IsOutage(err)
}

// Engine runs jobs until it is stopped. A SQLite database has one engine at a
// time, unless it is [EngineConfig.Shared]; a PostgreSQL database has any number.
type Engine struct {
	s      *Store
	h      Handlers
	c      EngineConfig
	client *river.Client[*sql.Tx]
	unlock func() error

	newer sync.Once // logs that the schema is newer than this program

	holder    string // unique id of the engine in its leases
	mu        sync.Mutex
	held      map[string]*heldLease // of the running effects, by their keys
	otherJobs map[int64]bool        // the running jobs of other kinds than effects

	shares map[string]*shares // of the queues with lanes

	deliverySlots *deliverySlots
	pace          *pace

	stopping      context.Context // ends when Stop is called
	stop          context.CancelFunc
	heartbeats    sync.WaitGroup
	stopHeartbeat context.CancelFunc
}

// Start starts an engine. Jobs that a dead process was running are run again
// first. ctx bounds the start alone; the engine runs until [Engine.Stop].
func (s *Store) Start(ctx context.Context, h Handlers, c EngineConfig) (*Engine, error) {
	if h.Delivery == nil || h.Effect == nil {
		return nil, errors.New("start the engine: a handler of deliveries and one of effects are needed")
	}
	if err := s.requireCurrent(ctx); err != nil {
		return nil, err
	}
	if h.Boundary == nil {
		h.Boundary = func(context.Context, string, sia.Effect) {}
	}
	unlock := func() error { return nil }
	if c.Shared = c.Shared || s.shared(); !c.Shared {
		var err error
		if unlock, err = s.claim(ctx); err != nil {
			return nil, err
		}
	}
	e := &Engine{s: s, h: h, c: c.withDefaults(), unlock: sync.OnceValue(unlock), holder: rand.Text(),
		held: map[string]*heldLease{}, otherJobs: map[int64]bool{}}
	e.deliverySlots, e.pace = newDeliverySlots(e.c.Deliveries), newPace(s.inbox)
	e.shares = map[string]*shares{queueDeliveries: newShares(e.deliverySlots.most()),
		queueEffects: newShares(e.c.Effects), queueAttempts: newShares(e.c.Attempts), queueTests: newShares(e.c.Attempts)}
	e.stopping, e.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err := e.start(ctx); err != nil {
		return nil, errors.Join(err, unlock())
	}
	return e, nil
}

func (e *Engine) start(ctx context.Context) error {
	if !e.c.Shared {
		revived, err := e.s.requeueOrphans(ctx)
		if err != nil {
			return err
		}
		if revived > 0 {
			e.s.log.WarnContext(ctx, "working again on what a process that ended had left", "jobs", revived)
		}
	}
	rc := e.s.riverConfig()
	rc.ID = e.holder
	rc.Workers = river.NewWorkers()
	rc.SoftStopTimeout = e.c.Grace
	rc.RetryPolicy = retries{e}
	rc.Middleware = append(rc.Middleware, river.WorkerMiddlewareFunc(e.trackJob))
	rc.Queues = map[string]river.QueueConfig{
		queueDeliveries: {MaxWorkers: e.c.Deliveries},
		queueEffects:    {MaxWorkers: e.c.Effects + extraEffectWorkers},
		queueAttempts:   {MaxWorkers: e.c.Attempts},
		queueTests:      {MaxWorkers: e.c.Attempts},
		queuePeriodic:   {MaxWorkers: 2},
		queueSetups:     {MaxWorkers: 2},
	}
	var err error
	if rc.PeriodicJobs, err = periodicJobs(e.h.Periodic); err != nil {
		return err
	}
	river.AddWorker(rc.Workers, &effectWorker{e: e})
	river.AddWorker(rc.Workers, &deliveriesWorker{e: e})
	river.AddWorker(rc.Workers, &periodicWorker{e: e})
	river.AddWorker(rc.Workers, &setupWorker{e: e})
	if e.client, err = river.NewClient(fairDriver{e.s.driver(), e}, rc); err != nil {
		return fmt.Errorf("set up the job engine: %w", err)
	}
	if err := e.client.Start(context.WithoutCancel(ctx)); err != nil {
		return e.s.explain("start the engine", err)
	}
	beating, end := context.WithCancel(context.WithoutCancel(ctx))
	e.stopHeartbeat = end
	e.heartbeats.Go(func() { e.heartbeat(beating) })
	return nil
}

// Stop takes no more jobs, lets running handlers finish within the grace period, and then
// ends their contexts. Attempts, and other effects that take minutes, end at once: their
// progress is saved, and another engine continues them. When ctx ends first, contexts end
// at once, and Stop waits a little longer for handlers to return. Unfinished work
// runs again after the next start, or on another engine.
func (e *Engine) Stop(ctx context.Context) error {
	e.stop()
	err := e.client.Stop(ctx)
	if err != nil {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), returnTimeout)
		defer cancel()
		err = e.client.StopAndCancel(last)
	}
	if err != nil {
		err = fmt.Errorf("stop the engine: some handlers did not return: %w", err)
	}
	e.stopHeartbeat()
	e.heartbeats.Wait()
	return errors.Join(err, e.unlock())
}

// Running counts the attempts and the other effects that this engine carries out.
func (e *Engine) Running() (attempts, others int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, h := range e.held {
		switch {
		case h.timer == nil: // it has no lease
		case h.f.Kind.Long():
			attempts++
		default:
			others++
		}
	}
	return attempts, others
}

// returnTimeout is how long Stop waits for handlers to return after their contexts ended.
const returnTimeout = 5 * time.Second

// Idle waits until no job runs or is due. It ignores jobs that are scheduled for
// later, see [Engine.NextDue], and the jobs of the effects in held, which a test
// blocks at a boundary. It is for tests and for programs that exit when all work
// is done.
func (e *Engine) Idle(ctx context.Context, held ...string) error {
	events, cancel := e.client.SubscribeConfig(&river.SubscribeConfig{ChanSize: 10_000, Kinds: []river.EventKind{
		river.EventKindJobCancelled, river.EventKindJobCompleted, river.EventKindJobFailed,
		river.EventKindJobInterrupted, river.EventKindJobSnoozed,
	}})
	defer cancel()
	// Workers are not notified of jobs that became due by a test's clock or after a failed try.
	queues := []string{queueDeliveries, queueEffects, queueAttempts, queueTests, queuePeriodic, queueSetups}
	e.s.commits.announce(queues)
	for {
		committed := e.s.commits.nextCommit()
		running, next, err := e.s.unfinished(ctx, e.jobKeys(held))
		due := !next.IsZero() && !next.After(e.s.now().Round(e.s.driver().TimePrecision())) // as precise as River's times
		if err != nil || running == 0 && !due {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %d jobs, the next is due at %s: %w", running, next, context.Cause(ctx))
		case <-committed:
		case _, ok := <-events:
			if !ok {
				return errors.New("wait for jobs: the engine was stopped")
			}
			for len(events) > 0 { // one query covers all
				<-events
			}
			e.s.commits.announce(queues)
		}
	}
}

// jobKeys returns, for effects by their keys, the keys that their jobs were inserted for.
func (e *Engine) jobKeys(keys []string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := slices.Clone(keys)
	for i, key := range out {
		if h := e.held[key]; h != nil {
			out[i] = h.job
		}
	}
	return out
}

// NextDue returns when the next waiting job becomes due; zero when none waits. Tests
// set their clock to it after Idle.
func (e *Engine) NextDue(ctx context.Context) (time.Time, error) {
	_, next, err := e.s.unfinished(ctx, nil)
	return next, err
}

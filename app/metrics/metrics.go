// Package metrics exports the metrics of a server to Prometheus: waiting work and its age, lost
// deliveries, GitHub's rate limits, model calls, and the targets (docs/rules.md#targets).
//
// Concepts:
//
//   - [Calls] counts model calls as they end. It is created first, because the models need it.
//   - [New] returns the handler of /metrics. All other metrics are read from the database on request,
//     at most once per [readingTTL], however many scrapers there are.
//   - The metrics contain no name of a repository, user or task: access to the health of a server does not
//     imply access to its work. The number of series is bounded by the number of models and installations.
//
// The package may import app/store, app/github, agent/llm, sia/memory and sia. Start reading at names.go,
// which lists every metric.
package metrics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/memory"
)

const (
	readingTTL     = 15 * time.Second    // how long a reading is reused
	targetsTTL     = 5 * time.Minute     // how long the targets are reused, which take longest to read
	readTimeout    = 5 * time.Second     // timeout of a reading
	targetsPeriod  = 30 * 24 * time.Hour // period of the targets
	maxTargetTasks = 5000                // maximum number of tasks read for them, the latest
	maxRequests    = 4                   // maximum number of concurrent requests; others are rejected
)

// Reader is the part of the database that is read. [store.Store] implements it.
type Reader interface {
	Refused() string
	DeliveryBacklog(ctx context.Context) (store.Backlog, error)
	EffectBacklog(ctx context.Context) (store.Backlog, error)
	CountStates(ctx context.Context) (map[sia.State]int, error)
	TotalCreditsSpent(ctx context.Context, from, until time.Time) (sia.Credits, error)
	Halts(ctx context.Context) ([]store.Halt, error)
	RunnerStandings(ctx context.Context) ([]store.RunnerStanding, error)
	Tasks(ctx context.Context, f store.Filter) ([]sia.Task, error)
}

// server collects the metrics of a server. It is a prometheus.Collector, safe for concurrent use.
type server struct {
	from   Reader
	limits func() []github.RateLimit
	unread func() int64
	free   func() (int64, error)
	roles  []string
	log    *slog.Logger
	now    func() time.Time

	mu        sync.Mutex
	last      reading
	targets   *memory.Figures // nil: never read
	targetsAt time.Time       // last try to read the targets; zero: never
	settled   sia.Credits     // spent since the start, before until
	until     time.Time       // first the start of this process
}

// onRunner holds the labels of [onRunners].
type onRunner struct{ kind, state string }

// reading has the values that were read at one time.
type reading struct {
	at                  time.Time // zero: never
	deliveries, effects store.Backlog
	tasks               map[sia.State]int
	spent               sia.Credits
	halts               int
	onRunners           map[onRunner]int
	err                 error
}

// New returns the handler of /metrics: calls, the values of from, the last known limits of GitHub, the number of unread
// deliveries, the free space of the server's folder in bytes, and the roles of this server.
func New(
	calls *Calls, from Reader, limits func() []github.RateLimit, unread func() int64, free func() (int64, error),
	roles []string, log *slog.Logger, now func() time.Time,
) (http.Handler, error) {
	registry := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{calls.calls, calls.tokens, calls.took,
		&server{from: from, limits: limits, unread: unread, free: free, roles: roles, log: log, now: now,
			until: now()},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("set up the metrics: %w", err)
		}
	}
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxRequests, Timeout: 2 * readTimeout,
		ErrorHandling: promhttp.ContinueOnError}), nil
}

// Describe implements prometheus.Collector. It announces no metric: which there are depends on what can be read.
func (s *server) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector. While the database is unavailable, sia_database_up is 0, and the metrics
// from the database are left out. A failure to read the targets has no such effect: the last ones are reused.
func (s *server) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, name := range s.roles {
		gauge(role, 1, name)
	}
	for _, l := range s.limits() {
		id := fmt.Sprint(l.Installation)
		gauge(rateLimitLeft, float64(l.Remaining), id, l.Resource)
		gauge(rateLimit, float64(l.Limit), id, l.Resource)
		gauge(rateLimitResets, float64(l.Resets.Unix()), id, l.Resource)
	}
	ch <- prometheus.MustNewConstMetric(unread, prometheus.CounterValue, float64(s.unread()))
	if bytes, err := s.free(); err == nil { // a server without a folder has no such space
		gauge(diskFree, float64(bytes))
	}
	last, figures := s.read()
	if last.err != nil {
		gauge(databaseUp, 0)
		return
	}
	gauge(databaseUp, 1)
	writes := 1.0
	if s.from.Refused() != "" {
		writes = 0
	}
	gauge(databaseWrites, writes)
	now := s.now()
	for kind, b := range map[string]store.Backlog{"delivery": last.deliveries, "effect": last.effects} {
		gauge(waiting, float64(b.Waiting), kind)
		gauge(oldest, age(b.Oldest, now), kind)
	}
	gauge(givenUp, float64(last.deliveries.Failed))
	for _, state := range sia.States {
		gauge(tasks, float64(last.tasks[state]), string(state))
	}
	ch <- prometheus.MustNewConstMetric(spent, prometheus.CounterValue, inCredits(last.spent))
	gauge(halts, float64(last.halts))
	for _, kind := range []string{"attempt", "tests"} {
		for _, state := range []string{"waiting", "running"} {
			gauge(onRunners, float64(last.onRunners[onRunner{kind, state}]), kind, state)
		}
	}
	if figures == nil {
		return
	}
	gauge(monthTasks, float64(figures.Tasks), "moved")
	gauge(monthTasks, float64(figures.Passed), "passed")
	gauge(monthTasks, float64(figures.Escalated), "escalated")
	gauge(monthTasks, float64(figures.Rescued), "rescued")
	gauge(testedPushes, float64(figures.Saved), "saved")
	gauge(testedPushes, float64(figures.Red-figures.Saved), "red")
	share := func(d *prometheus.Desc, n float64, of int) {
		if of > 0 {
			gauge(d, n/float64(of))
		}
	}
	share(resolvedShare, float64(figures.Resolved), figures.Judged)
	share(firstShare, float64(figures.First), figures.Intervened)
	share(escalatedShare, float64(figures.Escalated), figures.Tasks)
	share(techniques, float64(figures.Tried), figures.Rescued)
	share(creditsPerSolved, inCredits(figures.Credits), figures.Passed)
}

// age returns the age of a time in seconds; 0 for the zero time, and for times in the future.
func age(at, now time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return max(0, now.Sub(at).Seconds())
}

func inCredits(c sia.Credits) float64 { return float64(c) / float64(sia.Credit) }

// read returns the last reading, or a new one if that is too old. Concurrent callers wait for it.
func (s *server) read() (reading, *memory.Figures) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if !s.last.at.IsZero() && now.Sub(s.last.at) < readingTTL {
		return s.last, s.targets
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	r := reading{at: now}
	var errs [6]error
	r.deliveries, errs[0] = s.from.DeliveryBacklog(ctx)
	r.effects, errs[1] = s.from.EffectBacklog(ctx)
	r.tasks, errs[2] = s.from.CountStates(ctx)
	r.spent, errs[3] = s.spent(ctx, now)
	var halted []store.Halt
	halted, errs[4] = s.from.Halts(ctx)
	r.halts = len(halted)
	var standings []store.RunnerStanding
	standings, errs[5] = s.from.RunnerStandings(ctx)
	r.onRunners = map[onRunner]int{}
	for _, a := range standings {
		k := onRunner{kind: "attempt", state: "running"}
		if a.Tests {
			k.kind = "tests"
		}
		if a.Waits() {
			k.state = "waiting"
		}
		r.onRunners[k]++
	}
	if r.err = errors.Join(errs[:]...); r.err != nil {
		if s.last.err == nil { // once in a row
			s.log.ErrorContext(ctx, "metrics not read", "error", r.err)
		}
	} else if s.targetsAt.IsZero() || now.Sub(s.targetsAt) >= targetsTTL {
		s.targetsAt = now
		of, err := s.from.Tasks(ctx, store.Filter{Since: now.Add(-targetsPeriod), Limit: maxTargetTasks})
		if err == nil {
			figures := memory.Tally(of)
			s.targets = &figures
		} else {
			s.log.ErrorContext(ctx, "targets not read", "error", err)
		}
	}
	s.last = r
	return r, s.targets
}

// spent returns the cost of all tasks since this process started: of earlier ones, tasks may be deleted, and a counter
// that is lower after a restart looks as if all of it were spent anew. The cost before yesterday is summed only once.
func (s *server) spent(ctx context.Context, now time.Time) (sia.Credits, error) {
	if day := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -1); day.After(s.until) {
		more, err := s.from.TotalCreditsSpent(ctx, s.until, day)
		if err != nil {
			return 0, err
		}
		s.settled, s.until = s.settled+more, day
	}
	since, err := s.from.TotalCreditsSpent(ctx, s.until, time.Time{})
	return s.settled + since, err
}

package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
)

// leased is an engine with a running handler of an effect: it returns when release is closed, or with an error when its
// context ends.
type leased struct {
	s       *Store
	e       *Engine
	key     string
	ctx     context.Context // of the handler
	beats   chan time.Time
	release chan bool
	calls   chan bool // a value for each call after the first
}

func newLeased(t *testing.T, c EngineConfig) *leased {
	t.Helper()
	l := &leased{s: opened(t), beats: make(chan time.Time), release: make(chan bool), calls: make(chan bool, 10)}
	if _, err := l.s.Apply(t.Context(), "7-1", sia.Event{ID: "start", At: time.Now(),
		Fact: sia.Start{Repo: sia.Repo{ID: 7}, Issue: 1}}); err != nil {
		t.Fatal(err)
	}
	began := make(chan sia.Effect, 1)
	var first atomic.Bool
	h := Handlers{
		Delivery: func(context.Context, Delivery) error { return nil },
		Effect: func(ctx context.Context, _ sia.Task, f sia.Effect) (sia.Fact, error) {
			switch {
			case f.Kind != sia.DoBegin:
				return nil, &sia.Error{Message: "later", RetryAfter: time.Hour}
			case !first.CompareAndSwap(false, true):
				l.calls <- true
				return sia.Begun{Hold: "again"}, nil
			}
			l.ctx = ctx
			began <- f
			select {
			case <-l.release:
				return sia.Begun{Hold: "so it is"}, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		},
	}
	c.Heartbeats, c.Grace, c.Backoff = l.beats, time.Millisecond, func(int) time.Duration { return 0 }
	var err error
	if l.e, err = l.s.Start(t.Context(), h, c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.e.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	l.key = (<-began).Key
	return l
}

// row returns the lease's row.
func (l *leased) row(t *testing.T) (token, until int64) {
	t.Helper()
	if err := l.s.r.QueryRow(`SELECT lease_token, lease_until FROM effects WHERE key = ?`, l.key).
		Scan(&token, &until); err != nil {
		t.Fatal(err)
	}
	return token, until
}

func (l *leased) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	if err := l.s.exec(context.Background(), "test", query, args...); err != nil {
		t.Fatal(err)
	}
}

// beat triggers a heartbeat of the engine and waits for its end.
func (l *leased) beat() {
	l.beats <- time.Now()
	l.beats <- time.Now()
}

// outcomes counts the outcome events of the effect.
func (l *leased) outcomes(t *testing.T) (n int) {
	t.Helper()
	events, err := l.s.Events(context.Background(), "7-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range events {
		if r.Event.Effect == l.key {
			n++
		}
	}
	return n
}

// TestLeaseIsRenewed: each heartbeat extends a lease, in the database and in the process.
func TestLeaseIsRenewed(t *testing.T) {
	l := newLeased(t, EngineConfig{})
	l.e.mu.Lock()
	held := l.e.held[l.key]
	l.e.mu.Unlock()
	l.exec(t, `UPDATE effects SET lease_until = lease_until - 1000000 WHERE key = ?`, l.key) // a second has passed
	token, was := l.row(t)
	held.lease.Extend(time.Now())
	l.beat()
	again, is := l.row(t)
	if token != 1 || again != 1 || is <= was || !held.lease.Held() || l.ctx.Err() != nil {
		t.Errorf("token %d, then %d; until %d, then %d; held %v, %v", token, again, was, is, held.lease.Held(), l.ctx.Err())
	}
	close(l.release)
	if err := l.e.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.e.Stop(t.Context()); err != nil { // the effect is done slightly before its run ends
		t.Fatal(err)
	}
	l.e.mu.Lock()
	left := len(l.e.held)
	l.e.mu.Unlock()
	if left != 0 || l.outcomes(t) != 1 {
		t.Errorf("%d leases are left, %d outcomes", left, l.outcomes(t))
	}
}

// TestRenewalFindsAnother: a handler ends when the renewal finds that another engine has the lease.
func TestRenewalFindsAnother(t *testing.T) {
	l := newLeased(t, EngineConfig{})
	l.exec(t, `UPDATE effects SET lease_token = 2, lease_holder = 'another' WHERE key = ?`, l.key)
	l.beat()
	<-l.ctx.Done()
	if cause := context.Cause(l.ctx); !errors.Is(cause, ErrLeaseLost) {
		t.Errorf("the cause is %v", cause)
	}
	if err := l.e.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f, err := l.s.Effect(t.Context(), l.key); err != nil || f.State != EffectPending || f.Tries != 0 || f.Error != "" {
		t.Errorf("it wrote: %+v, %v", f, err)
	}
	if token, until := l.row(t); token != 2 || until == 0 {
		t.Errorf("it gave back what another has: token %d until %d", token, until)
	}
}

// TestLeaseThatCannotBeRenewed: a handler is canceled with its lease when the database can't be written, and continues
// when it can.
func TestLeaseThatCannotBeRenewed(t *testing.T) {
	l := newLeased(t, EngineConfig{Lease: 50 * time.Millisecond})
	<-l.ctx.Done() // no heartbeat occurred
	if cause := context.Cause(l.ctx); !errors.Is(cause, ErrLeaseLost) {
		t.Errorf("the cause is %v", cause)
	}
	<-l.calls // retried
	if err := l.e.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f, err := l.s.Effect(t.Context(), l.key); err != nil || f.State != EffectDone || f.Tries == 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestStopGivesLeasesBack: interrupted effects need not wait until their leases expire.
func TestStopGivesLeasesBack(t *testing.T) {
	l := newLeased(t, EngineConfig{})
	if err := l.e.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if token, until := l.row(t); token != 1 || until != 0 {
		t.Errorf("token %d, until %d", token, until)
	}
}

// TestReviveFreesLeases: the leases of a dead process block nothing, although they have not expired.
func TestReviveFreesLeases(t *testing.T) {
	l := newLeased(t, EngineConfig{})
	if _, err := l.s.requeueOrphans(t.Context()); err != nil {
		t.Fatal(err)
	}
	if token, until := l.row(t); token != 1 || until != 0 {
		t.Errorf("token %d, until %d", token, until)
	}
}

// TestRunThatIsEnding: a job that starts while the previous run of its effect ends takes the lease, and is not
// postponed by the length of a lease.
func TestRunThatIsEnding(t *testing.T) {
	l := newLeased(t, EngineConfig{})
	l.e.mu.Lock()
	ending := l.e.held[l.key]
	l.e.mu.Unlock()
	ending.end()
	held, f, left, err := l.e.take(t.Context(), l.key, l.key)
	if err != nil || held == nil {
		t.Fatalf("no lease of %+v for %s: %v", f, left, err)
	}
	if held.end(); held.token != 2 {
		t.Errorf("the token is %d", held.token)
	}
}

// TestJobGivenOutTwice: when the job of a running attempt is started again, as by River's rescuer, the attempt
// continues alone, and the second job finds it done.
func TestJobGivenOutTwice(t *testing.T) {
	l := newLeased(t, EngineConfig{Lease: time.Hour})
	l.exec(t, `UPDATE river_job SET state = 'available' WHERE id = (SELECT job_id FROM effects WHERE key = ?)`, l.key)
	if err := l.e.Idle(t.Context(), l.key); err != nil {
		t.Fatal(err)
	}
	var waits int
	for waits == 0 { // until the second job is postponed
		if err := l.s.r.QueryRow(`SELECT count(*) FROM river_job WHERE json_extract(args, '$.key') = ? AND
			state = 'available' AND scheduled_at > ?`, l.key, time.Now().UTC().Format(riverTime)).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	if token, _ := l.row(t); token != 1 || l.ctx.Err() != nil {
		t.Errorf("token %d, %v", token, l.ctx.Err())
	}
	close(l.release)
	for f := (EffectRecord{State: EffectPending}); f.State == EffectPending; {
		var err error
		if f, err = l.s.Effect(t.Context(), l.key); err != nil {
			t.Fatal(err)
		}
	}
	if len(l.calls) != 0 || l.outcomes(t) != 1 {
		t.Errorf("called %d times more, %d outcomes", len(l.calls), l.outcomes(t))
	}
}

// TestRiverRescuesNoEffect: River's rescuer leaves an effect that began two hours ago to its worker, while it rescues a
// job with a time limit.
func TestRiverRescuesNoEffect(t *testing.T) {
	s := opened(t)
	if _, err := s.Apply(t.Context(), "7-1", sia.Event{ID: "start", At: time.Now(),
		Fact: sia.Start{Repo: sia.Repo{ID: 7}, Issue: 1}}); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		`INSERT INTO river_job (kind, args, queue, max_attempts, priority, state)
			VALUES ('periodic', '{"name":"x"}', 'periodic', 1000, 1, 'available')`,
		fmt.Sprintf(`UPDATE river_job SET state = 'running', attempt = 1, attempted_at = '%s'`,
			time.Now().Add(-2*time.Hour).UTC().Format(riverTime)),
		fmt.Sprintf(`UPDATE effects SET lease_token = 1, lease_holder = 'another', lease_until = %d`,
			micros(time.Now().Add(time.Hour))),
	} {
		if err := s.exec(t.Context(), "test", query); err != nil {
			t.Fatal(err)
		}
	}
	rescued := make(chan bool, 1)
	e, err := s.Start(t.Context(), Handlers{
		Delivery: func(context.Context, Delivery) error { return nil },
		Effect: func(_ context.Context, _ sia.Task, f sia.Effect) (sia.Fact, error) {
			t.Errorf("%s was given out while its worker has the lease", f.Key)
			return nil, nil
		},
		Periodic: []Periodic{{Name: "x", Spec: "@yearly", Run: func(context.Context) error { rescued <- true; return nil }}},
	}, EngineConfig{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	<-rescued
	if err := e.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	var others int
	if err := s.r.QueryRow(`SELECT count(*) FROM river_job
		WHERE kind = 'effect' AND (state <> 'running' OR attempt <> 1)`).Scan(&others); err != nil || others != 0 {
		t.Errorf("%d jobs of effects were touched, %v", others, err)
	}
}

// TestNewerIsSaidWhenItIs: a server logs that a newer SIA has migrated the database once that has happened, and not
// while the schema's version can't be read.
func TestNewerIsSaidWhenItIs(t *testing.T) {
	var said bytes.Buffer
	s := openedAt(t, Config{URL: filepath.Join(t.TempDir(), "sia.db"), Logger: slog.New(slog.NewTextHandler(&said, nil))})
	e := &Engine{s: s, c: EngineConfig{Shared: true, Lease: time.Minute}}
	for _, c := range []struct {
		change string
		newer  bool
	}{
		{`ALTER TABLE goose_db_version RENAME COLUMN version_id TO away`, false},
		{`ALTER TABLE goose_db_version RENAME COLUMN away TO version_id`, false},
		{`INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`, true},
	} {
		if _, err := s.w.ExecContext(t.Context(), c.change); err != nil {
			t.Fatal(err)
		}
		said.Reset()
		e.heartbeatOnce(t.Context())
		if newer := strings.Contains(said.String(), "a newer SIA has migrated"); newer != c.newer {
			t.Errorf("after %s a newer SIA is told of: %t\n%s", c.change, newer, &said)
		}
	}
}

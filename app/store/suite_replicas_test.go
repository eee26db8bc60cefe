package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// An effect of an unknown kind is neither carried out nor given up, however often it is due. A version that supports it
// carries it out.
func testUnknownEffects(t *testing.T, s *fixture) {
	w := newScript(t, s)
	id := begin(t, s, 42)
	key := record(t, s, id, sia.DoBegin).Key
	raw := storetest.Raw(t, s.url)
	rename := func(from, to string) {
		t.Helper()
		_, err := raw.ExecContext(patient(t), `UPDATE effects SET kind = '`+to+`',
			effect = replace(effect, '"kind":"`+from+`"', '"kind":"`+to+`"') WHERE key = '`+key+`'`)
		must(t, err)
	}
	rename("begin", "newer")
	e := engine(t, s, w.handlers(), quick())
	for range 10 { // more often than its maximum number of tries
		must(t, e.Idle(patient(t)))
		due, err := e.NextDue(patient(t))
		must(t, err)
		s.clock.reach(due)
	}
	must(t, e.Idle(patient(t)))
	r, err := s.Effect(patient(t), key)
	must(t, err)
	if r.State != store.EffectPending || r.Tries != 0 || w.count(key) > 0 {
		t.Errorf("it is %+v, after %d calls", r, w.count(key))
	}
	rename("newer", "begin")
	settle(t, s, e, id, sia.Passed)
}

// A task that a newer version wrote is not changed: it may have fields that this program would drop. Its effects and
// deliveries wait, and neither fail nor count as tried. That version goes on.
func testNewerTasks(t *testing.T, s *fixture) {
	w := newScript(t, s)
	id := begin(t, s, 42)
	key := record(t, s, id, sia.DoBegin).Key
	raw := storetest.Raw(t, s.url)
	needs := func(version int) {
		t.Helper()
		_, err := raw.ExecContext(patient(t), fmt.Sprintf(`UPDATE tasks SET needs = %d`, version))
		must(t, err)
	}
	if got := column(t, raw, `SELECT needs FROM tasks`); !slices.Equal(got, []string{fmt.Sprint(sia.TaskVersion)}) {
		t.Errorf("the new task needs version %v", got)
	}
	needs(sia.TaskVersion + 1)
	h, delivered := w.handlers(), 0
	h.Delivery = func(ctx context.Context, _ store.Delivery) error {
		delivered++
		_, err := s.Apply(ctx, id, sia.Event{ID: "seen", At: s.clock.now(), Fact: sia.CheckSeen{}})
		return err
	}
	_, err := s.SaveDelivery(patient(t), store.Delivery{GUID: "d", Event: "issues", Received: s.clock.now()})
	must(t, err)
	e := engine(t, s, h, quick())
	tryOften := func() { // more often than the maximum number of tries; a delivery waits longer each time
		for range 40 {
			must(t, e.Idle(patient(t)))
			due, err := e.NextDue(patient(t))
			must(t, err)
			s.clock.reach(due)
		}
		must(t, e.Idle(patient(t)))
	}
	tryOften()
	r, err := s.Effect(patient(t), key)
	must(t, err)
	if r.State != store.EffectPending || r.Tries != 0 || w.count(key) > 0 {
		t.Errorf("the effect is %+v, after %d calls", r, w.count(key))
	}
	got := column(t, raw, `SELECT state || ' ' || tries FROM deliveries`)
	if !slices.Equal(got, []string{"pending 0"}) || delivered < 5 {
		t.Errorf("the delivery is %v, after %d calls", got, delivered)
	}
	if now, err := s.Task(patient(t), id); err != nil || now.State != sia.Queued {
		t.Errorf("the task is %s: %v", now.State, err)
	}
	needs(sia.TaskVersion)
	settle(t, s, e, id, sia.Passed)
	tryOften()
	if got := column(t, raw, `SELECT state FROM deliveries`); !slices.Equal(got, []string{"done"}) {
		t.Errorf("the delivery is %v", got)
	}
}

// A job that River can't decode is never run, and occupies no worker.
func testDamagedJobs(t *testing.T, s *fixture) {
	c := quick()
	c.Effects = 1
	e := engine(t, s, newScript(t, s).handlers(), c)
	now, rows := `now()`, []string{`'{"key":7}', NULL`}
	if s.Files() != nil {
		now, rows = `strftime('%Y-%m-%d %H:%M:%f', 'now')`, append(rows, `'{"key":"k"}', '7'`) // no list of errors
	}
	for _, row := range rows {
		_, err := storetest.Raw(t, s.url).ExecContext(patient(t), `INSERT INTO river_job
			(kind, queue, state, args, errors, max_attempts, scheduled_at)
			VALUES ('effect', 'effects_3_7', 'available', `+row+`, 1, `+now+`)`)
		must(t, err)
		must(t, e.Idle(patient(t)))
	}
	settle(t, s, e, begin(t, s, 42), sia.Passed)
}

// Periodic jobs of a newer version wait for it.
func testUnknownPeriodic(t *testing.T, s *fixture) {
	planned := make(chan bool, 100)
	h := newScript(t, s).handlers()
	h.Periodic = []store.Periodic{{Name: "newer", Spec: "@every 1s", Run: func(context.Context) error {
		planned <- true
		return nil
	}}}
	h.Delivery = func(context.Context, store.Delivery) error { return nil }
	raw := storetest.Raw(t, s.url)
	now := `now()`
	if s.Files() != nil {
		now = `strftime('%Y-%m-%d %H:%M:%f', 'now')`
	}
	_, err := raw.ExecContext(patient(t), `INSERT INTO river_job (kind, queue, state, args, max_attempts, scheduled_at)
		VALUES ('periodic', 'periodic', 'available', '{"name":"newer"}', 100, `+now+`)`)
	must(t, err)
	older := newScript(t, s).handlers()
	e := engine(t, s, older, quick())
	for ctx := patient(t); ; {
		must(t, e.Idle(ctx))
		got := column(t, raw, `SELECT state || ' ' || (metadata ->> 'snoozes') FROM river_job
			WHERE kind = 'periodic' AND (state = 'completed' OR metadata ->> 'snoozes' IS NOT NULL)`)
		if len(got) == 0 {
			continue // River writes the end of jobs a little later
		}
		if got[0] != "available 1" && got[0] != "scheduled 1" {
			t.Errorf("it is %s", got[0])
		}
		break
	}
	stop(t, e)
	s.clock.reach(s.clock.now().Add(time.Minute))
	engine(t, s, h, quick())
	select {
	case <-planned:
	case <-patient(t).Done():
		t.Fatal("it was never done")
	}
}

// An engine that stops doesn't wait for an attempt: the attempt is canceled, no failed try is counted, and another
// engine need not wait for its lease.
func testStopDrains(t *testing.T, s *fixture) {
	began := make(chan bool)
	w := newScript(t, s)
	w.on[sia.DoAttempt] = func(ctx context.Context, _ sia.Task, _ sia.Effect) (sia.Fact, error) {
		close(began)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	c := quick()
	c.Grace, c.Lease, c.Shared = time.Hour, time.Hour, true
	id := begin(t, s, 42)
	e, err := s.Start(patient(t), w.handlers(), c)
	must(t, err)
	<-began
	stop(t, e)
	r := record(t, s, id, sia.DoAttempt)
	if r.State != store.EffectPending || r.Tries != 0 {
		t.Errorf("the attempt is %+v", r)
	}
	other := newScript(t, s)
	settle(t, s, engine(t, s, other.handlers(), c), id, sia.Passed)
	if n := other.count(r.Key); n != 1 {
		t.Errorf("the other engine made the attempt %d times", n)
	}
}

// A cancellation reaches the engine that runs the effect even if its notification is lost.
func testCancelIsSeen(t *testing.T, s *fixture) {
	began := make(chan string, 1)
	w := newScript(t, s)
	w.on[sia.DoAttempt] = func(ctx context.Context, task sia.Task, f sia.Effect) (sia.Fact, error) {
		if f.Attempt > 1 {
			return w.well(ctx, task, f)
		}
		began <- f.Key
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), store.ErrCancelled) {
			t.Errorf("it ended because of %v", context.Cause(ctx))
		}
		return sia.AttemptEnded{End: sia.EndCancelled}, nil
	}
	id := begin(t, s, 42)
	c, beats := otherEngine()
	e := engine(t, s, w.handlers(), c)
	key := <-began
	_, err := storetest.Raw(t, s.url).ExecContext(patient(t), `UPDATE effects SET cancelled = 1 WHERE key = '`+key+`'`)
	must(t, err)
	beats <- time.Now()
	settle(t, s, e, id, sia.Passed)
	if r, err := s.Effect(patient(t), key); err != nil || r.State != store.EffectDone {
		t.Errorf("the attempt is %+v: %v", r, err)
	}
}

// Long jobs of a repository are reserved for the server that has its mirror. When that one is busy, another takes them
// after a few seconds, and has the mirror from then on.
func testPreferredServer(t *testing.T, s *fixture) {
	if s.Files() != nil {
		return // only one process
	}
	must(t, s.UpsertInstallation(patient(t), store.Installation{ID: 3, Account: "octo"}))
	must(t, s.UpsertRepository(patient(t), store.Repository{Repo: demo, Installation: 3}))
	type run struct {
		server, key string
		end         chan bool
	}
	begun := make(chan run)
	start := func(server string) {
		w := newScript(t, s)
		w.on[sia.DoAttempt] = func(ctx context.Context, task sia.Task, f sia.Effect) (sia.Fact, error) {
			r := run{server, f.Key, make(chan bool)}
			begun <- r
			<-r.end
			return w.well(ctx, task, f)
		}
		c := quick()
		c.Server, c.Shared, c.Attempts = server, true, 1
		c.Lease = time.Hour
		at := &fixture{Store: s.beside(t), url: s.url, clock: s.clock}
		engine(t, at, w.handlers(), c)
	}
	next := func() run {
		t.Helper()
		select {
		case r := <-begun:
			return r
		case <-patient(t).Done():
			t.Fatal("no attempt began")
			return run{}
		}
	}
	start("aa")
	begin(t, s, 1)
	first := next()
	if first.server != "aa" {
		t.Fatalf("it is done by %s", first.server)
	}
	start("bb")
	// While the server is busy, the next attempt waits for it, and other servers don't take it.
	begin(t, s, 2)
	waits := func() bool {
		return len(column(t, storetest.Raw(t, s.url), `SELECT queue FROM river_job WHERE queue = 'attempts_3_7-aa' AND
			state = 'available'`)) == 1
	}
	for !waits() { // it becomes due meanwhile
		select {
		case r := <-begun:
			t.Fatalf("%s does not leave it to the one that has the mirror", r.server)
		case <-patient(t).Done():
			t.Fatal("it is not put aside")
		case <-time.After(time.Millisecond):
		}
	}
	close(first.end)
	second := next()
	if second.server != "aa" {
		t.Errorf("the second is done by %s", second.server)
	}
	begin(t, s, 3)
	for !waits() {
		select {
		case r := <-begun:
			t.Fatalf("%s does not leave it to the one that has the mirror", r.server)
		case <-time.After(time.Millisecond):
		}
	}
	s.clock.reach(s.clock.now().Add(6 * time.Second))
	third := next()
	if third.server != "bb" {
		t.Errorf("the third is done by %s, which is busy", third.server)
	}
	if got := column(t, storetest.Raw(t, s.url), `SELECT server FROM repositories`); strings.Join(got, " ") != "bb" {
		t.Errorf("the mirror is at %q", got)
	}
	close(second.end)
	close(third.end)
}

package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

func testLoopToPassed(t *testing.T, s *fixture) {
	id := begin(t, s, 42)
	w := newScript(t, s)
	e := engine(t, s, w.handlers(), quick())
	settle(t, s, e, id, sia.Passed)
	must(t, e.Idle(patient(t)))
	task := replayed(t, s, id)

	for key, n := range w.calls {
		if n != 1 {
			t.Errorf("effect %s was carried out %d times", key, n)
		}
	}
	for _, ref := range task.Refs() {
		if ids, err := s.TaskByRef(patient(t), demo.ID, ref); err != nil || !cmp.Equal(ids, []sia.TaskID{id}) {
			t.Errorf("%s gives %v %v", ref, ids, err)
		}
	}
	spent, err := s.TotalCreditsSpent(patient(t), task.CreatedAt, time.Time{})
	if err != nil || spent != 3*sia.Credit {
		t.Errorf("spent %s, %v; want 3", spent, err)
	}
	later, err := s.TotalCreditsSpent(patient(t), s.clock.now().Add(time.Hour), time.Time{})
	if err != nil || later != 0 {
		t.Errorf("spent %s in the future, %v", later, err)
	}
}

func testLoopWithIntervention(t *testing.T, s *fixture) {
	id := begin(t, s, 42)
	w := newScript(t, s)
	w.on[sia.DoGate] = func(ctx context.Context, task sia.Task, f sia.Effect) (sia.Fact, error) {
		if len(task.Attempts) > 1 {
			return w.well(ctx, task, f)
		}
		return sia.Judged{SHA: f.SHA, Looked: s.clock.now(), Verdict: sia.VerdictRed, Explain: []string{"test is red"},
			Checks:   []sia.Check{{Name: "test", Colour: sia.Red, Required: true}},
			Failures: []sia.CheckFailure{{Check: "test", Excerpt: "boom", Signature: "s1", Class: "test"}},
			Signals:  []sia.Signal{{Name: sia.SameTask, Evidence: "again"}}}, nil
	}
	w.on[sia.DoDiagnose] = func(context.Context, sia.Task, sia.Effect) (sia.Fact, error) {
		return sia.Diagnosed{Cost: sia.Credit,
			Diagnosis: sia.Diagnosis{Summary: "it edited what it should create", Pattern: sia.WrongTool,
				Technique: sia.ToolChange, Prompt: "create the file", Hypothesis: "the file will exist", Confidence: 0.7,
				Brief:      sia.Brief{Technique: sia.ToolChange, Prompt: "create the file"},
				Ratings:    sia.Ratings{sia.ToolChange: 0.7, sia.FreshStart: 0},
				Candidates: []sia.Candidate{{Technique: sia.ToolChange, Score: 0.9, Chosen: true, Reason: "new"}}}}, nil
	}
	e := engine(t, s, w.handlers(), quick())
	settle(t, s, e, id, sia.Passed)
	must(t, e.Idle(patient(t)))
	replayed(t, s, id)
	if passed, judged, err := s.CountJudged(patient(t), demo.ID); err != nil || passed != 1 || judged != 2 {
		t.Errorf("%d of %d attempts passed, %v", passed, judged, err)
	}
	for limit, want := range map[int][]int{10: {1, 2}, 1: {2}} {
		ended, err := s.EndedAttempts(patient(t), limit)
		must(t, err)
		var numbers []int
		for _, a := range ended {
			numbers = append(numbers, a.Number)
		}
		if !slices.Equal(numbers, want) {
			t.Errorf("of at most %d attempts that ended: %v", limit, numbers)
		}
	}
}

func testEffectRetried(t *testing.T, s *fixture) {
	id := begin(t, s, 42)
	w := newScript(t, s)
	w.on[sia.DoReact] = func(_ context.Context, _ sia.Task, f sia.Effect) (sia.Fact, error) {
		if w.count(f.Key) < 3 {
			return nil, errors.New("GitHub is down")
		}
		return nil, nil
	}
	run(t, s, w)
	r := record(t, s, id, sia.DoReact)
	if r.State != store.EffectDone || r.Tries != 2 || w.count(r.Key) != 3 || r.Error != "GitHub is down" ||
		r.Ended.IsZero() {
		t.Errorf("called %d times: %+v", w.count(r.Key), r)
	}
	replayed(t, s, id)
}

// testOutage checks that an effect outlasts an outage, and that users learn of it.
func testOutage(t *testing.T, s *fixture) {
	down := &sia.Error{Op: "read the issue", Message: "GitHub is failing (503)", Outage: true}
	id := begin(t, s, 42)
	w := newScript(t, s)
	var warning string
	w.on[sia.DoBegin] = func(ctx context.Context, task sia.Task, f sia.Effect) (sia.Fact, error) {
		if w.count(f.Key) > 8 {
			warning = task.Warning
			return allWell(ctx, task, f)
		}
		return nil, down
	}
	e := engine(t, s, w.handlers(), quick())
	task := settle(t, s, e, id, sia.Escalated)
	if !strings.Contains(warning, "GitHub is failing (503). SIA tries again") || task.Warning == warning {
		t.Errorf("warned %q, then %q", warning, task.Warning)
	}
	replayed(t, s, id)
}

func testEffectPanics(t *testing.T, s *fixture) {
	id := begin(t, s, 42)
	w := newScript(t, s)
	w.on[sia.DoReact] = func(context.Context, sia.Task, sia.Effect) (sia.Fact, error) { panic("nil map") }
	run(t, s, w)
	if r := record(t, s, id, sia.DoReact); r.State != store.EffectFailed || w.count(r.Key) != 4 ||
		strings.Contains(r.Error, "nil map") {
		t.Errorf("called %d times: %+v", w.count(r.Key), r)
	}
}

// outcome returns the fact with which an effect was closed.
func outcome(t *testing.T, s *fixture, id sia.TaskID, key string) sia.Fact {
	t.Helper()
	events, err := s.Events(patient(t), id)
	must(t, err)
	var found []sia.Fact
	for _, e := range events {
		if e.Event.Effect == key {
			found = append(found, e.Event.Fact)
		}
	}
	if len(found) != 1 {
		t.Fatalf("effect %s reported %d times", key, len(found))
	}
	return found[0]
}

func testEffectFailsForGood(t *testing.T, s *fixture) {
	id := begin(t, s, 42)
	w := newScript(t, s)
	w.on[sia.DoBegin] = func(context.Context, sia.Task, sia.Effect) (sia.Fact, error) {
		return nil, fmt.Errorf("look: %w",
			&sia.Error{Op: "read the issue", Message: "the issue is gone; label another", Permanent: true})
	}
	e := run(t, s, w)
	task, err := s.Task(patient(t), id)
	must(t, err)
	all, err := s.Effects(patient(t), id)
	must(t, err)
	for _, r := range all {
		if r.Kind != sia.DoBegin {
			continue
		}
		want := sia.EffectFailed{Effect: sia.DoBegin, Reason: "the issue is gone; label another"}
		if diff := cmp.Diff(sia.Fact(want), outcome(t, s, id, r.Key)); diff != "" {
			t.Error(diff)
		}
		if r.State != store.EffectFailed || w.count(r.Key) != 1 {
			t.Errorf("called %d times: %+v; the task is %s", w.count(r.Key), r, task.State)
		}
		break
	}
	stop(t, e)
	replayed(t, s, id)
}

func testEffectFailsOnLastTry(t *testing.T, s *fixture) {
	id := begin(t, s, 42)
	w := newScript(t, s)
	w.on[sia.DoReact] = func(context.Context, sia.Task, sia.Effect) (sia.Fact, error) { return nil, errors.New("no luck") }
	run(t, s, w)
	r := record(t, s, id, sia.DoReact)
	if r.State != store.EffectFailed || w.count(r.Key) != 4 || r.Error != "no luck" {
		t.Errorf("called %d times: %+v", w.count(r.Key), r)
	}
	outcome(t, s, id, r.Key)
}

func testEffectTimesOut(t *testing.T, s *fixture) {
	id := begin(t, s, 42)
	w := newScript(t, s)
	w.on[sia.DoReact] = func(ctx context.Context, _ sia.Task, _ sia.Effect) (sia.Fact, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	c := quick()
	c.EffectTimeout, c.Tries = 20*time.Millisecond, 2
	must(t, engine(t, s, w.handlers(), c).Idle(patient(t)))
	r := record(t, s, id, sia.DoReact)
	if r.State != store.EffectFailed || w.count(r.Key) != 2 || !strings.Contains(r.Error, "20ms") {
		t.Errorf("called %d times: %+v", w.count(r.Key), r)
	}
}

// timeOf carries out the effects of a task that passes, and returns the timeout of the handler for a kind.
func timeOf(t *testing.T, s *fixture, kind sia.EffectKind, c store.EngineConfig) (within time.Duration) {
	t.Helper()
	id := begin(t, s, 42)
	w := newScript(t, s)
	w.on[kind] = func(ctx context.Context, task sia.Task, f sia.Effect) (sia.Fact, error) {
		until, _ := ctx.Deadline()
		within = time.Until(until)
		return w.well(ctx, task, f)
	}
	settle(t, s, engine(t, s, w.handlers(), c), id, sia.Passed)
	return within
}

// Effects that may fetch the whole repository have a longer timeout than others.
func testBeginHasTimeToFetch(t *testing.T, s *fixture) {
	c := quick()
	c.EffectTimeout = time.Minute
	if within := timeOf(t, s, sia.DoBegin, c); within < 10*time.Minute {
		t.Errorf("it has %s", within)
	}
}

// The final review has the timeout of effects that ask a model, and the pull request continues without it.
func testQuestionHasTime(t *testing.T, s *fixture) {
	c := quick()
	c.EffectTimeout = time.Minute
	if within := timeOf(t, s, sia.DoFinalReview, c); within < 40*time.Minute {
		t.Errorf("it has %s", within)
	}
}

// The time that an attempt may wait for a runner is added to its own.
func testAttemptWaits(t *testing.T, s *fixture) {
	c := quick()
	c.AttemptWait = 24 * time.Hour
	if within := timeOf(t, s, sia.DoAttempt, c); within < c.AttemptWait {
		t.Errorf("the attempt has %s", within)
	}
}

func testRetryAfter(t *testing.T, s *fixture) {
	id := begin(t, s, 42)
	w := newScript(t, s)
	w.on[sia.DoReact] = func(context.Context, sia.Task, sia.Effect) (sia.Fact, error) {
		return nil, &sia.Error{Op: "react", Message: "GitHub asks to wait", RetryAfter: time.Hour}
	}
	// Postpone everything else, so that the retry is due next.
	w.on[sia.DoBegin], w.on[sia.DoSync] = w.on[sia.DoReact], w.on[sia.DoReact]
	before := s.clock.now()
	e := run(t, s, w)
	due, err := e.NextDue(patient(t))
	must(t, err)
	if due.Before(before.Add(time.Hour-time.Second)) || due.After(s.clock.now().Add(time.Hour+time.Second)) {
		t.Errorf("the next try is at %s, the first was at %s", due, before)
	}
	if r := record(t, s, id, sia.DoReact); r.State != store.EffectPending || r.Tries != 1 || w.count(r.Key) != 1 {
		t.Errorf("called %d times: %+v", w.count(r.Key), r)
	}
	key := record(t, s, id, sia.DoReact).Key
	if next, err := s.TaskStore.NextTry(t.Context(), key); err != nil || next.Before(due) ||
		next.After(due.Add(time.Minute)) {
		t.Errorf("the effect is tried next at %s, and the first at %s: %v", next, due, err)
	}
	if next, err := s.TaskStore.NextTry(t.Context(), "none"); err != nil || !next.IsZero() {
		t.Errorf("an effect that there is not is tried at %s: %v", next, err)
	}
}

// testCrash crashes the process once at each boundary of each effect, and wants the same end as without crashes:
// effects repeated, outcomes applied once.
func testCrash(t *testing.T, s *fixture) {
	id := begin(t, s, 42)
	w := newScript(t, s)
	h := w.handlers()
	crashes := make(chan string, 1000)
	died := map[string]bool{}
	h.Boundary = func(_ context.Context, when string, f sia.Effect) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if at := when + f.Key; !died[at] {
			died[at] = true
			crashes <- at
			panic("the process dies " + when + " " + f.Key)
		}
	}
	e := engine(t, s, h, quick())
	settle(t, s, e, id, sia.Passed)
	exhaust(t, s, e)
	if task := replayed(t, s, id); task.Synced < task.Visible || len(task.Pending) > 0 {
		t.Errorf("version %d is shown of %d, and %v is pending", task.Synced, task.Visible, task.Pending)
	}
	effects, err := s.Effects(patient(t), id)
	must(t, err)
	for i, f := range effects {
		if f.State != store.EffectDone {
			t.Errorf("effect %s is %s", f.Key, f.State)
			continue
		}
		// A sync that is due later is superseded by an earlier one. It is still carried out, but the task no longer waits
		// for it.
		superseded := f.Kind == sia.DoSync && slices.ContainsFunc(effects[i+1:], func(later store.EffectRecord) bool {
			return later.Kind == sia.DoSync && later.At.Before(f.At)
		})
		if !superseded {
			outcome(t, s, id, f.Key)
		}
		if w.count(f.Key) != 2 { // crash before: not called; crash after: called without an outcome; then called again
			t.Errorf("effect %s was carried out %d times, want 2", f.Key, w.count(f.Key))
		}
	}
}

// testCrashAgain checks that an effect that always crashes the process is given up.
func testCrashAgain(t *testing.T, s *fixture) {
	id := begin(t, s, 42)
	w := newScript(t, s)
	h := w.handlers()
	h.Boundary = func(_ context.Context, when string, f sia.Effect) {
		if f.Kind == sia.DoReact && when == "after" {
			panic("the process dies")
		}
	}
	must(t, engine(t, s, h, quick()).Idle(patient(t)))
	r := record(t, s, id, sia.DoReact)
	if r.State != store.EffectFailed || w.count(r.Key) != 4 {
		t.Errorf("called %d times: %+v", w.count(r.Key), r)
	}
	outcome(t, s, id, r.Key)
}

func testStopResumes(t *testing.T, s *fixture) {
	id := begin(t, s, 42)
	w := newScript(t, s)
	started := make(chan bool, 1)
	var first atomic.Bool
	w.on[sia.DoAttempt] = func(ctx context.Context, task sia.Task, f sia.Effect) (sia.Fact, error) {
		if !first.CompareAndSwap(false, true) {
			return w.well(ctx, task, f)
		}
		started <- true
		<-ctx.Done()
		if errors.Is(context.Cause(ctx), store.ErrCancelled) {
			t.Error("stopping the engine looks like cancelling the attempt")
		}
		return nil, ctx.Err()
	}
	c := quick()
	c.Grace = 10 * time.Millisecond
	e, err := s.Start(patient(t), w.handlers(), c)
	must(t, err)
	<-started
	stop(t, e)
	if r := record(t, s, id, sia.DoAttempt); r.State != store.EffectPending || r.Tries != 0 {
		t.Errorf("after the stop: %+v", r)
	}
	settle(t, s, engine(t, s, w.handlers(), quick()), id, sia.Passed)
	if r := record(t, s, id, sia.DoAttempt); r.State != store.EffectDone || w.count(r.Key) != 2 {
		t.Errorf("called %d times: %+v", w.count(r.Key), r)
	}
	replayed(t, s, id)
}

func testPeriodic(t *testing.T, s *fixture) {
	runs := make(chan string, 100)
	h := newScript(t, s).handlers()
	h.Periodic = []store.Periodic{
		{Name: "well", Spec: "@every 1s", Run: func(context.Context) error { runs <- "well"; return nil }},
		{Name: "badly", Spec: "@every 1s", Run: func(context.Context) error { runs <- "badly"; panic("a mistake") }},
	}
	engine(t, s, h, quick())
	got := map[string]int{}
	for ctx := patient(t); got["well"] < 2 || got["badly"] < 2; {
		select {
		case name := <-runs:
			got[name]++
		case <-ctx.Done():
			t.Fatalf("ran %v", got)
		}
	}
	h.Periodic = []store.Periodic{{Name: "x", Spec: "every now and then", Run: func(context.Context) error { return nil }}}
	if _, err := s.Start(patient(t), h, quick()); err == nil {
		t.Error("a schedule that can't be read was accepted")
	}
}

func testOneEngine(t *testing.T, s *fixture) {
	h := newScript(t, s).handlers()
	e, err := s.Start(patient(t), h, quick())
	must(t, err)
	second, err := s.Start(patient(t), h, quick())
	switch {
	case s.Files() != nil && !sia.IsPermanent(err):
		t.Errorf("a second engine on one file: %v", err)
	case s.Files() == nil:
		must(t, err)
		stop(t, second)
	}
	stop(t, e)
	engine(t, s, h, quick())
	if _, err := s.Start(patient(t), store.Handlers{}, quick()); err == nil {
		t.Error("an engine without handlers was started")
	}
}

// Engines of two processes share the work: each effect is carried out once, each delivery is processed once, and
// periodic jobs run once for each scheduled time.
func testEngines(t *testing.T, s *fixture) {
	const tasks = 6
	ctx := patient(t)
	w := newScript(t, s)
	beside := &fixture{Store: s.beside(t), url: s.url, clock: s.clock}
	var mu sync.Mutex
	deliveries := map[string]int{}
	ticks := make(chan bool, 1000)
	h := w.handlers()
	h.Delivery = func(_ context.Context, d store.Delivery) error {
		mu.Lock()
		defer mu.Unlock()
		deliveries[d.GUID]++
		return nil
	}
	h.Periodic = []store.Periodic{{Name: "tick", Spec: "@every 1s",
		Run: func(context.Context) error { ticks <- true; return nil }}}
	c := quick()
	c.Shared = true
	engines := [...]*store.Engine{engine(t, s, h, c), engine(t, beside, h, c)}
	stores := [...]*fixture{s, beside}
	var ids []sia.TaskID
	for i := range tasks {
		ids = append(ids, begin(t, stores[i%2], 50+i))
		save(t, stores[(i+1)%2], delivery(fmt.Sprint("d", i), []byte("{}")))
	}
	for i, id := range ids {
		settle(t, stores[i%2], engines[i%2], id, sia.Passed)
	}
	for range 3 {
		select {
		case <-ticks:
		case <-ctx.Done():
			t.Fatal("the periodic work does not run")
		}
	}
	for _, e := range engines {
		stop(t, e)
	}
	for _, id := range ids {
		replayed(t, s, id)
		effects, err := s.Effects(ctx, id)
		must(t, err)
		for _, f := range effects {
			if f.State == store.EffectDone && w.count(f.Key) != 1 {
				t.Errorf("effect %s was carried out %d times", f.Key, w.count(f.Key))
			}
		}
	}
	for guid, n := range deliveries {
		if n != 1 {
			t.Errorf("delivery %s was worked on %d times", guid, n)
		}
	}
	if len(deliveries) != tasks {
		t.Errorf("%d deliveries were worked on", len(deliveries))
	}
	twice := column(t, storetest.Raw(t, s.url), `SELECT scheduled_at FROM river_job WHERE kind = 'periodic'
		GROUP BY scheduled_at HAVING count(*) > 1`)
	if len(twice) > 0 {
		t.Errorf("periodic work ran twice for %q", twice)
	}
}

// On shared databases, jobs of a newer version wait for that version.
func testUnknownJobs(t *testing.T, s *fixture) {
	if s.Files() != nil {
		return // a single process refuses a newer schema
	}
	raw := storetest.Raw(t, s.url)
	_, err := raw.ExecContext(patient(t), `INSERT INTO river_job (kind, queue, state, args, max_attempts)
		VALUES ('newer', 'deliveries', 'available', '{}', 5)`)
	must(t, err)
	worked := make(chan bool, 1)
	h := newScript(t, s).handlers()
	h.Delivery = func(context.Context, store.Delivery) error { worked <- true; return nil }
	engine(t, s, h, quick())
	save(t, s, delivery("known", []byte("{}")))
	select {
	case <-worked:
	case <-patient(t).Done():
		t.Fatal("the delivery was not worked on")
	}
	if got := column(t, raw, `SELECT state || ' ' || attempt FROM river_job
		WHERE kind = 'newer'`); got[0] != "available 0" {
		t.Errorf("the unknown job is %s", got[0])
	}
}

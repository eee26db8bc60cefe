package work

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

// A long attempt reports its progress once a minute, with secrets masked, and a short one never.
func TestProgressIsTold(t *testing.T) {
	ctx := t.Context()
	now := time.Date(2026, 5, 4, 14, 0, 0, 0, time.UTC)
	s := storetest.Open(t, store.Config{Now: func() time.Time { return now }})
	id := working(t, s, now)

	mask := &secret.Masker{}
	mask.Know("model-key", "s3cr3t-of-the-server")
	w := &attemptWorker{common: &common{Deps: Deps{Store: s, Secrets: mask, Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return now }}}}
	r := w.recorder(id, &sia.Attempt{Number: 1}, 0)
	told := func() *sia.Progress {
		t.Helper()
		task, err := s.Task(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return task.Attempt().Progress
	}
	for n := 1; n <= 30; n++ { // ten seconds a turn
		turn := agent.Turn{Number: n, At: now, Kind: agent.TurnModel}
		if n == 4 {
			turn.Calls = []agent.Call{{Name: "test", Result: "The tests fail: KEY=s3cr3t-of-the-server make test\nmore"}}
		}
		if err := r.Turn(ctx, turn); err != nil {
			t.Fatal(err)
		}
		switch p := told(); {
		case n < 7 && p != nil, n >= 7 && (p == nil || p.Turn != 1+(n-1)/6*6):
			t.Fatalf("at turn %d: %+v", n, p)
		}
		now = now.Add(10 * time.Second)
	}
	if p := told(); !strings.HasPrefix(p.Tests, "The tests fail: ") || strings.Contains(p.Tests, "more") {
		t.Errorf("%+v", p)
	}
	if p := told(); mask.Mask(p.Tests) != p.Tests {
		t.Errorf("a secret is told: %s", p.Tests)
	}
}

// Parts that run at the same time report once a minute together.
func TestProgressOfPartsIsTold(t *testing.T) {
	now := time.Date(2026, 5, 4, 14, 0, 0, 0, time.UTC)
	s := storetest.Open(t, store.Config{Now: func() time.Time { return now }})
	id := working(t, s, now)
	w := &attemptWorker{common: &common{Deps: Deps{Store: s, Secrets: &secret.Masker{},
		Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }}}}
	a := &sia.Attempt{Number: 1, Parts: []sia.Part{{State: sia.PartRunning, Run: 2}, {State: sia.PartRunning, Run: 3},
		{State: sia.PartWaiting}}}
	for _, run := range []int{2, 3} {
		r, told := w.recorder(id, a, run), 0
		for n := 1; n <= 13; n++ { // half a minute a turn
			before := r.reported
			if err := r.Turn(t.Context(), agent.Turn{Number: n, At: now, Kind: agent.TurnModel}); err != nil {
				t.Fatal(err)
			}
			if r.reported != before {
				told++
			}
			now = now.Add(30 * time.Second)
		}
		if told != 3 {
			t.Errorf("in six minutes run %d reports %d times", run, told)
		}
	}
}

// An attempt continues if its progress can't be reported, and a later turn reports it.
func TestProgressThatIsNotTold(t *testing.T) {
	ctx := t.Context()
	now := time.Date(2026, 5, 4, 14, 0, 0, 0, time.UTC)
	url := storetest.SQLite(t)
	s := storetest.Open(t, store.Config{URL: url, Now: func() time.Time { return now }})
	id := working(t, s, now)
	var log strings.Builder
	w := &attemptWorker{common: &common{Deps: Deps{Store: s, Secrets: &secret.Masker{},
		Now: func() time.Time { return now }, Logger: slog.New(slog.NewTextHandler(&log, nil))}}}
	r := w.recorder(id, &sia.Attempt{Number: 1}, 0)
	db := storetest.Raw(t, url)
	exec := func(query string) {
		t.Helper()
		if _, err := db.ExecContext(ctx, query); err != nil {
			t.Fatal(err)
		}
	}
	turn := func(n int, calls ...agent.Call) {
		t.Helper()
		now = now.Add(progressInterval)
		if err := r.Turn(ctx, agent.Turn{Number: n, At: now, Kind: agent.TurnModel, Calls: calls}); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TRIGGER full BEFORE INSERT ON task_events BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
	turn(1, agent.Call{Name: "test", Result: "The tests pass"})
	turn(2)
	if !strings.Contains(log.String(), "the disk is full") {
		t.Errorf("the log says nothing of it:\n%s", log.String())
	}
	exec(`DROP TRIGGER full`)
	turn(3)
	task, err := s.Task(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if p := task.Attempt().Progress; p == nil || p.Turn != 3 || p.Tests != "The tests pass" {
		t.Errorf("the progress is %+v", p)
	}
	if turns, err := s.Turns(ctx, id, 1); err != nil || len(turns) != 3 {
		t.Errorf("%d turns are saved, %v", len(turns), err)
	}
}

// working returns a task with its first attempt running.
func working(t *testing.T, s *store.Store, now time.Time) sia.TaskID {
	t.Helper()
	ctx := t.Context()
	id := sia.NewTaskID(9, 12)
	apply := func(f sia.Fact) {
		t.Helper()
		task, err := s.Task(ctx, id)
		e := sia.Event{ID: string(f.Kind()), At: now, By: sia.Actor{Login: "ada", ID: 7}, Fact: f}
		for key, kind := range task.Pending {
			if err == nil && (kind == sia.DoBegin && f.Kind() == sia.KBegun ||
				kind == sia.DoDecide && f.Kind() == sia.KDecided) {
				e.ID, e.Effect, e.By = key, key, sia.Actor{}
			}
		}
		if r, err := s.Apply(ctx, id, e); err != nil || r.Ignored != "" {
			t.Fatalf("%s: %v %s", f.Kind(), err, r.Ignored)
		}
	}
	apply(sia.Start{Installation: 1, Repo: sia.Repo{ID: 9, Owner: "acme", Name: "bookings"}, Issue: 12, Title: "Greet",
		DefaultBranch: "main"})
	apply(sia.Begun{Settings: sia.DefaultSettings(), BaseBranch: "main", BaseSHA: "base", Title: "Greet"})
	apply(sia.Decided{Type: sia.DecideAssign, Choice: "coder", Agent: "builtin/x", Reason: "it is the only one"})
	return id
}

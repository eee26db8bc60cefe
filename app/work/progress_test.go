package work

import (
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

// A long attempt tells once a minute how far it has come, with secrets masked, and a short one never.
func TestProgressIsTold(t *testing.T) {
	ctx := t.Context()
	now := time.Date(2026, 5, 4, 14, 0, 0, 0, time.UTC)
	s := storetest.Open(t, store.Config{Now: func() time.Time { return now }})
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

	mask := &secret.Masker{}
	mask.Know("model-key", "s3cr3t-of-the-server")
	w := &attemptWorker{common: &common{Store: s, Secrets: mask, Now: func() time.Time { return now }}}
	r := w.recorder(id, 1, 0)
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

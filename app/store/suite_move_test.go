package store_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// After a move to the other kind of database, an installation has the same data and continues its work. A trial keeps
// no row. Move rejects a target that is in use, and a source on which a server works.
func testMove(t *testing.T, s *fixture) {
	ctx := patient(t)
	person := knowZelda(t, s)
	open := begin(t, s, 42)
	_, err := s.Apply(ctx, open, sia.Event{ID: "odd", At: at(1), By: anna, Fact: sia.Edited{Title: "zero \x00 byte"}})
	must(t, err)
	must(t, s.UpsertInstallation(ctx, store.Installation{ID: 3, Account: "octo"}))
	must(t, s.UpsertRepository(ctx, store.Repository{Repo: demo, Installation: 3}))
	must(t, s.PlanSetups(ctx, 3, []sia.Repo{demo}, 1, false))
	_, err = s.RecordOutcome(ctx, store.Outcome{Task: person, Intervention: 1, Repo: demo, Pattern: "p", Technique: "t",
		Z: 0.1, Confidence: map[string]float64{"t": 0.3}})
	must(t, err)
	must(t, s.SaveNotices(ctx, "mail", at(1), false, "b", "a"))

	from, to := store.Config{URL: s.url, Now: s.clock.now}, store.Config{URL: s.elsewhere(t), Now: s.clock.now}
	e := engine(t, s, newScript(t, s).handlers(), quick())
	must(t, e.Idle(ctx))
	if s.Files() != nil {
		if _, err := store.Move(ctx, from, to, false); !sia.IsPermanent(err) {
			t.Errorf("moved beside a server: %v", err)
		}
	}
	stop(t, e)
	save(t, s, delivery("still waits", []byte("{}")))
	before := s.dump(t)

	tried, err := store.Move(ctx, from, to, true)
	must(t, err)
	moved, err := store.Move(ctx, from, to, false) // which needs an empty database
	must(t, err)
	tried.Tried = false
	if d := cmp.Diff(tried, moved); d != "" {
		t.Errorf("the trial said something else: %s", d)
	}
	if _, err := store.Move(ctx, from, to, false); !sia.IsPermanent(err) {
		t.Errorf("moved to a database in use: %v", err)
	}
	if d := cmp.Diff(before, s.dump(t)); d != "" {
		t.Errorf("the source changed: %s", d)
	}

	there := &fixture{Store: storetest.Open(t, to), url: to.URL, clock: s.clock}
	if d := cmp.Diff(before, there.dump(t)); d != "" {
		t.Errorf("the copy is another: %s", d)
	}
	if len(search(t, there, demo.ID, "fake clock")) != 1 {
		t.Error("the lesson is not found")
	}
	isNew, err := there.RecordOutcome(ctx, store.Outcome{Task: person, Intervention: 2, Repo: demo})
	if must(t, err); !isNew {
		t.Error("an outcome after the move is not new")
	}
	h := newScript(t, there).handlers()
	worked := make(chan string, 9)
	h.Delivery = func(_ context.Context, d store.Delivery) error { worked <- d.GUID; return nil }
	e = engine(t, there, h, quick())
	settle(t, there, e, open, sia.Passed)
	replayed(t, there, open)
	if len(worked) != 1 || <-worked != "still waits" {
		t.Error("the delivery that waited was not worked on")
	}
}

// elsewhere returns the URL of an empty database of the other kind, without a schema.
func (s *fixture) elsewhere(t *testing.T) string {
	t.Helper()
	if s.Files() == nil {
		return "sqlite:" + filepath.Join(t.TempDir(), "moved", "sia.db")
	}
	return storetest.Shared(t).Empty(t)
}

// dump returns all data about tasks, as JSON.
func (s *fixture) dump(t *testing.T) (lines []string) {
	t.Helper()
	add := func(v any, err error) {
		t.Helper()
		must(t, err)
		b, err := json.Marshal(v)
		must(t, err)
		lines = append(lines, string(b))
	}
	ctx := patient(t)
	tasks, err := s.Tasks(ctx, store.Filter{})
	add(tasks, err)
	for _, task := range tasks {
		v, err := s.Events(ctx, task.ID)
		add(v, err)
		f, err := s.Effects(ctx, task.ID)
		add(f, err)
		d, err := s.Decisions(ctx, task.ID)
		add(d, err)
		turns, err := s.Turns(ctx, task.ID, 1)
		add(turns, err)
	}
	o, err := s.OutcomesSince(ctx, 0)
	add(o, err)
	l, err := s.Lessons(ctx, demo.ID)
	add(l, err)
	h, err := s.Halts(ctx)
	add(h, err)
	u, err := s.Setups(ctx, 0)
	add(u, err)
	b, err := s.DeliveryBacklog(ctx)
	add(b, err)
	acts, err := s.Acts(ctx, store.ActFilter{Limit: 1000})
	add(acts, err)
	return lines
}

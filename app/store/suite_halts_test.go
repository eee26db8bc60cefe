package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// A halt stops the running attempt and pauses the tasks that have not ended, only in its scope. The second store
// simulates a command that runs next to a server.
func testHalt(t *testing.T, s *fixture) {
	ctx := patient(t)
	id, _, e := attempting(t, s, func(ctx context.Context) (sia.Fact, error) {
		<-ctx.Done()
		return sia.AttemptEnded{End: sia.EndCancelled, Reason: "stopped"}, nil
	})
	elsewhere, err := s.Halt(ctx, store.Halt{Scope: sia.RepositoryHalt(99), Reason: "not here", At: at(1)})
	if must(t, err); elsewhere != 0 {
		t.Errorf("another repository's halt paused %d tasks", elsewhere)
	}
	n, err := s.Halt(ctx, store.Halt{Scope: sia.ServerHalt, Reason: "everything is paused", At: at(2)})
	if must(t, err); n != 1 {
		t.Errorf("paused %d tasks, want 1", n)
	}
	must(t, e.Idle(ctx))
	task := replayed(t, s, id)
	if task.State != sia.OnHold || task.Pause.Scope != sia.ServerHalt || task.Attempts[0].Outcome != sia.AttemptCancelled {
		t.Errorf("%s, %+v, attempt %q", task.State, task.Pause, task.Attempts[0].Outcome)
	}

	// A second halt overlaps the first; after the first is lifted, the second remains.
	n, err = s.Halt(ctx, store.Halt{Scope: sia.RepositoryHalt(demo.ID), By: "anna", Reason: "said so", At: at(3)})
	if must(t, err); n != 1 {
		t.Errorf("the second halt concerns %d tasks, want 1", n)
	}
	h, over, err := s.HaltOver(ctx, 3, demo.ID)
	if must(t, err); !over || h.Scope != sia.ServerHalt {
		t.Errorf("over the repository is %+v", h)
	}
	_, known, err := s.Lift(ctx, sia.RepositoryHalt(demo.ID), "anna", at(4))
	if must(t, err); !known || replayed(t, s, id).Pause.Scope != sia.ServerHalt {
		t.Errorf("known %v, %+v", known, replayed(t, s, id).Pause)
	}
	n, known, err = s.Lift(ctx, sia.ServerHalt, "", at(5))
	if must(t, err); n != 1 || !known || replayed(t, s, id).State != sia.Queued {
		t.Errorf("%d tasks go on, known %v, %s", n, known, replayed(t, s, id).State)
	}
	if _, known, err = s.Lift(ctx, sia.ServerHalt, "", at(6)); err != nil || known {
		t.Errorf("a halt was lifted twice: %v %v", known, err)
	}
	all, err := s.Halts(ctx)
	must(t, err)
	want := []store.Halt{{Scope: sia.RepositoryHalt(99), Reason: "not here", At: at(1)}}
	if diff := cmp.Diff(want, all, cmpopts.EquateApproxTime(1000)); diff != "" {
		t.Error(diff)
	}
}

// A task that a user paused remains paused when a halt is lifted.
func testHaltOfPaused(t *testing.T, s *fixture) {
	ctx := patient(t)
	id := begin(t, s, 7)
	_, err := s.Apply(ctx, id, sia.Event{ID: "p", At: at(1), By: anna, Fact: sia.PauseAsked{Reason: "said so"}})
	must(t, err)
	n, err := s.Halt(ctx, store.Halt{Scope: sia.InstallationHalt(3), Reason: "paused", At: at(2)})
	if must(t, err); n != 0 {
		t.Errorf("paused %d tasks, want 0", n)
	}
	n, _, err = s.Lift(ctx, sia.InstallationHalt(3), "", at(3))
	if must(t, err); n != 0 || replayed(t, s, id).State != sia.OnHold {
		t.Errorf("%d go on; it is %s", n, replayed(t, s, id).State)
	}
}

func testHeard(t *testing.T, s *fixture) {
	ctx := patient(t)
	if _, err := s.Heard(ctx, 5, "comment/1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("heard before it was said: %v", err)
	}
	said := []store.Heard{
		{Repo: 5, Event: "comment/1", Issue: 1, Login: "anna", Answer: "no", At: at(1)},
		{Repo: 5, Event: "comment/2", Issue: 2, Login: "anna", At: at(2)},
		{Repo: 5, Event: "comment/3", Issue: 1, Login: "bert", At: at(3)},
		{Repo: 5, Event: "comment/4", Issue: 2, Login: "bert", At: at(4)},
		{Repo: 6, Event: "comment/1", Issue: 1, Login: "anna", At: at(5)},
	}
	for _, h := range said {
		must(t, s.SaveHeard(ctx, h))
	}
	must(t, s.SaveHeard(ctx, store.Heard{Repo: 5, Event: "comment/1", Answer: "yes", At: at(9)}))
	again, err := s.Heard(ctx, 5, "comment/1")
	must(t, err)
	near := cmpopts.EquateApproxTime(1000)
	if diff := cmp.Diff(said[0], again, near); diff != "" {
		t.Error(diff)
	}
	got, err := s.HeardSince(ctx, 5, 1, "anna", at(0))
	must(t, err)
	if diff := cmp.Diff(said[:3], got, near); diff != "" {
		t.Error(diff)
	}
	if _, err := s.PruneDeliveries(ctx, at(2)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Heard(ctx, 5, "comment/1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("kept for ever: %v", err)
	}
}

// What was said about a task that has not ended is known until it ends: looks at GitHub find its comments again.
func testHeardOfOpenTasks(t *testing.T, s *fixture) {
	ctx := t.Context()
	id := begin(t, s, 1)
	apply := func(event string, fact sia.Fact) sia.Result {
		res, err := s.Apply(ctx, id, sia.Event{ID: event, At: at(1), By: anna, Fact: fact})
		must(t, err)
		return res
	}
	if res := apply("comment/1", sia.Resume{}); res.Ignored == "" {
		t.Fatal("nothing was paused, and it was resumed")
	}
	apply("comment/2", sia.PauseAsked{Reason: "wait"})
	later := s.clock.now().Add(time.Hour)
	if _, err := s.PruneDeliveries(ctx, later); err != nil {
		t.Fatal(err)
	}
	if res := apply("comment/1", sia.Resume{}); res.Ignored == "" || res.Task.State != sia.OnHold {
		t.Errorf("an old command was obeyed: %s", res.Task.State)
	}
	apply("comment/3", sia.Stop{Reason: "enough"})
	if _, err := s.PruneDeliveries(ctx, later); err != nil {
		t.Fatal(err)
	}
	if known, err := s.Applied(ctx, id, "comment/1"); err != nil || known {
		t.Errorf("kept after its end: %v, %v", known, err)
	}
}

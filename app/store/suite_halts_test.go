package store_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
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

// cancelling is a log that cancels a context when the first event was applied.
type cancelling struct {
	slog.Handler
	cancel func()
}

func (c cancelling) Enabled(context.Context, slog.Level) bool { return true }

func (c cancelling) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "event applied" {
		c.cancel()
	}
	return nil
}

// Who pauses or resumes a scope may go away before all tasks were told.
func testHaltOfOneWhoLeaves(t *testing.T, s *fixture) {
	ids := []sia.TaskID{begin(t, s, 7), begin(t, s, 8)}
	leaving := func(do func(ctx context.Context, s *store.Store) error, want sia.State) {
		t.Helper()
		ctx, cancel := context.WithCancel(patient(t))
		defer cancel()
		must(t, do(ctx, storetest.Open(t, store.Config{URL: s.url, Now: s.clock.now,
			Logger: slog.New(cancelling{slog.DiscardHandler, cancel})})))
		for _, id := range ids {
			if task := replayed(t, s, id); ctx.Err() == nil || task.State != want {
				t.Errorf("%s is %s, want %s; context: %v", id, task.State, want, ctx.Err())
			}
		}
	}
	leaving(func(ctx context.Context, s *store.Store) error {
		_, err := s.Halt(ctx, store.Halt{Scope: sia.ServerHalt, Reason: "everything is paused", At: at(1)})
		return err
	}, sia.OnHold)
	leaving(func(ctx context.Context, s *store.Store) error {
		_, _, err := s.Lift(ctx, sia.ServerHalt, "", at(2))
		return err
	}, sia.Queued)
}

// A process may end before it has told all tasks of a halt, and a task may change its owner.
func testHaltsApplied(t *testing.T, s *fixture) {
	ctx := patient(t)
	id := begin(t, s, 7)
	db := storetest.Raw(t, s.url)
	want := func(what string, state sia.State, scope sia.HaltScope) {
		t.Helper()
		must(t, s.ApplyHalts(ctx, s.clock.now()))
		task := replayed(t, s, id)
		if task.State != state || state == sia.OnHold && task.Pause.Scope != scope {
			t.Errorf("%s: %s, %+v", what, task.State, task.Pause)
		}
	}
	halt := func(scope sia.HaltScope) {
		t.Helper()
		_, err := s.Halt(ctx, store.Halt{Scope: scope, Reason: "all is paused", At: s.clock.now()})
		must(t, err)
	}
	lose := func() {
		t.Helper()
		_, err := db.ExecContext(ctx, `DELETE FROM halts`)
		must(t, err)
	}
	want("not paused", sia.Queued, "")
	halt(sia.ServerHalt)
	want("paused", sia.OnHold, sia.ServerHalt)
	lose()
	want("lifted, but not resumed", sia.Queued, "")
	_, err := db.ExecContext(ctx, `INSERT INTO halts (scope, by_login, reason, at)
		VALUES ('repository 7', 'anna', 'x', 1)`)
	must(t, err)
	want("not told of the halt", sia.OnHold, sia.RepositoryHalt(7))
	halt(sia.InstallationHalt(3))
	_, err = s.Apply(ctx, id, sia.Event{ID: "moved", At: at(2), Fact: sia.RepoMoved{Installation: 4, Repo: demo}})
	must(t, err)
	want("of another installation, in a paused repository", sia.OnHold, sia.RepositoryHalt(7))
	_, _, err = s.Lift(ctx, sia.RepositoryHalt(7), "anna", at(3))
	must(t, err)
	halt(sia.InstallationHalt(4))
	_, err = s.Apply(ctx, id, sia.Event{ID: "moved back", At: at(4), Fact: sia.RepoMoved{Installation: 5, Repo: demo}})
	must(t, err)
	want("of another installation", sia.Queued, "")

	halt(sia.ServerHalt)
	lose()
	n, known, err := s.Lift(ctx, sia.ServerHalt, "", at(5))
	if must(t, err); n != 1 || !known || replayed(t, s, id).State != sia.Queued {
		t.Errorf("lifted again, %d tasks go on, known %v", n, known)
	}
	_, err = s.Apply(ctx, id, sia.Event{ID: "p", At: at(6), By: anna, Fact: sia.PauseAsked{Reason: "said so"}})
	must(t, err)
	want("paused by itself", sia.OnHold, "")
}

// A person resumes a task whose halt has ended or no longer concerns it, and no task whose halt lasts.
func testResumeAfterHalt(t *testing.T, s *fixture) {
	ctx := patient(t)
	id := begin(t, s, 7)
	db := storetest.Raw(t, s.url)
	halt := func(scope sia.HaltScope) {
		t.Helper()
		_, err := s.Halt(ctx, store.Halt{Scope: scope, Reason: "all is paused", At: s.clock.now()})
		must(t, err)
	}
	n := 0
	resume := func(what string, credits sia.Credits, want sia.State) {
		t.Helper()
		n++
		before := replayed(t, s, id)
		res, err := s.Apply(ctx, id, sia.Event{ID: fmt.Sprint("resume/", n), At: at(n), By: anna,
			Fact: sia.Resume{Credits: credits}})
		must(t, err)
		after := replayed(t, s, id)
		if after.State != want || after.Credits.Budget != before.Credits.Budget+credits {
			t.Errorf("%s: %s, %q, %q, budget %s", what, after.State, res.Why, res.Ignored, after.Credits.Budget)
		}
	}
	move := func(installation int64) {
		t.Helper()
		_, err := s.Apply(ctx, id, sia.Event{ID: fmt.Sprint("moved/", installation), At: at(1),
			Fact: sia.RepoMoved{Installation: installation, Repo: demo}})
		must(t, err)
	}
	halt(sia.InstallationHalt(3))
	resume("paused", 0, sia.OnHold)
	move(4)
	resume("of another installation", 0, sia.Queued)
	halt(sia.SuspensionHalt(4))
	move(5)
	resume("of another installation, with credits", 5*sia.Credit, sia.Queued)
	halt(sia.ServerHalt)
	_, err := db.ExecContext(ctx, `DELETE FROM halts WHERE scope = 'server'`)
	must(t, err)
	resume("lifted, but not resumed", 0, sia.Queued)
	halt(sia.ServerHalt)
	_, err = db.ExecContext(ctx, `UPDATE halts SET scope = 'installation 5' WHERE scope = 'server'`)
	must(t, err)
	resume("lifted, with another in force", 0, sia.OnHold)
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

package app_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// said returns SIA's comments on an issue, concatenated.
func said(t *testing.T, s *apptest.Stage, issue int) string {
	t.Helper()
	on, err := s.Sim.Issue(apptest.Repo, issue)
	check(t, err)
	var b strings.Builder
	for _, c := range on.Comments {
		if c.Author == apptest.Bot {
			b.WriteString(c.Body + "\n")
		}
	}
	return b.String()
}

// open opens an issue and adds the label.
func openLabelled(t *testing.T, s *apptest.Stage, who string) int {
	t.Helper()
	n, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Put a greeting into `hello.txt`.")
	check(t, err)
	check(t, s.Sim.Label(apptest.Repo, n, who, "sia"))
	return n
}

// The operator pauses everything with a command that works on the database, whether or not the server is running:
// running work is stopped, new work waits and its issues show that, also after a restart, and all of it continues
// together.
//
//test:race
func TestPauseEverything(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	s.Hold(apptest.Point{When: "before", Kind: sia.DoAttempt, Attempt: 1})
	first := openLabelled(t, s, apptest.Owner)
	s.Until()
	command := func(f func(*store.Store) error) {
		t.Helper()
		beside, err := store.Open(t.Context(), store.Config{URL: s.Database(), Now: s.Clock.Now})
		check(t, err)
		check(t, f(beside))
		check(t, beside.Close())
	}
	command(func(beside *store.Store) error {
		all := store.Halt{Scope: sia.ServerHalt, Reason: "everything is paused", At: s.Clock.Now()}
		n, err := beside.Halt(t.Context(), all)
		if n != 1 {
			t.Errorf("%d tasks were paused, want 1", n)
		}
		return err
	})
	s.Cut() // by the other process
	s.Settle()
	if a := s.Task(first).Attempts[0]; s.Task(first).State != sia.OnHold || a.Outcome != sia.AttemptCancelled {
		t.Errorf("%s, attempt 1: %q", s.Task(first).State, a.Outcome)
	}
	s.Restart()
	second := openLabelled(t, s, apptest.Owner)
	s.Settle()
	if text := said(t, s, second); s.Task(second).State != sia.OnHold || len(s.Task(second).Attempts) != 0 ||
		!strings.Contains(text, "Everything is paused. Whoever runs the server lifts that with `sia resume --all`.") {
		t.Errorf("%s, %d attempts; SIA said:\n%s", s.Task(second).State, len(s.Task(second).Attempts), text)
	}
	s.Stop()
	command(func(beside *store.Store) error {
		n, _, err := beside.Lift(t.Context(), sia.ServerHalt, "", s.Clock.Now())
		if n != 2 {
			t.Errorf("%d tasks go on, want 2", n)
		}
		return err
	})
	s.Restart()
	s.Settle()
	for _, n := range []int{first, second} {
		if state := s.Task(n).State; state != sia.Passed {
			t.Errorf("#%d is %s after everything was resumed", n, state)
		}
	}
}

// Nobody in a repository lifts or replaces its pause by the operator, neither by a command nor by a box of the
// dashboard, which has none.
func TestOperatorsPause(t *testing.T) {
	t.Parallel()
	s, task, number := board(t, "escalate-tick")
	scope := sia.RepositoryHalt(repoID(t, s))
	_, err := s.App.Store.Halt(t.Context(), store.Halt{Scope: scope, Reason: "shop is paused by whoever runs the server",
		At: s.Clock.Now()})
	check(t, err)
	s.Settle()
	s.Periodic("dashboard")
	s.Quiet()
	const lifts = "hoever runs the server lifts that with `sia resume --repo`"
	if body := boardText(t, s, number); strings.Contains(body, "resume all") || !strings.Contains(body, "is paused:") {
		t.Errorf("it offers what is refused:\n%s", body)
	}
	for _, command := range []string{"/sia resume all", "/sia pause all", "/sia resume all"} {
		_, err := s.Sim.Comment(apptest.Repo, task, apptest.Owner, command)
		check(t, err)
		s.Settle()
		if text := said(t, s, task); s.Task(task).State != sia.OnHold || !strings.Contains(text, lifts) {
			t.Fatalf("after %s it is %s, and SIA said:\n%s", command, s.Task(task).State, text)
		}
		if halts, err := s.App.Store.Halts(t.Context()); err != nil || len(halts) != 1 || !halts[0].Actor().Operator {
			t.Errorf("after %s: %+v, %v", command, halts, err)
		}
	}
	n, known, err := s.App.Store.Lift(t.Context(), scope, "", s.Clock.Now())
	if err != nil || n != 1 || !known {
		t.Errorf("the operator resumed %d tasks, known %v, %v", n, known, err)
	}
}

// Only tasks paused by the suspension of an installation continue when it ends.
func TestSuspension(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	s.Hold(apptest.Point{When: "before", Kind: sia.DoAttempt, Attempt: 1})
	first := openLabelled(t, s, apptest.Owner)
	s.Until()
	check(t, s.Sim.Suspend(s.Install, true))
	s.Go()
	s.Settle()
	if state := s.Task(first).State; state != sia.OnHold {
		t.Fatalf("suspended, it is %s", state)
	}
	check(t, s.Sim.Suspend(s.Install, false))
	s.Settle()
	if state := s.Task(first).State; state != sia.Passed {
		t.Errorf("unsuspended, it is %s: %+v", state, s.Task(first).Pause)
	}
}

// Tasks that act between the suspension of an installation and its delivery also continue when it ends.
func TestSuspensionBeforeItsDelivery(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	s.Hold(apptest.Point{When: "before", Kind: sia.DoPush, Attempt: 1})
	n := openLabelled(t, s, apptest.Owner)
	s.Until()
	s.Sim.HoldDeliveries(func(d ghsim.Delivery) bool { return d.Event == "installation" })
	check(t, s.Sim.Suspend(s.Install, true))
	s.Go()
	s.Quiet()
	s.Sim.HoldDeliveries(nil)
	s.Sim.Release(nil)
	s.Settle()
	if state := s.Task(n).State; state != sia.OnHold {
		t.Fatalf("suspended, it is %s", state)
	}
	check(t, s.Sim.Suspend(s.Install, false))
	s.Settle()
	if state := s.Task(n).State; state != sia.Passed {
		t.Errorf("unsuspended, it is %s: %+v", state, s.Task(n).Pause)
	}
	if text := said(t, s, n); strings.Contains(text, "suspend") {
		t.Errorf("SIA says:\n%s", text)
	}
}

// A late delivery contains an outdated state of an installation, so GitHub is asked for the present one.
func TestLateWordsOfAnInstallation(t *testing.T) {
	t.Parallel()
	for name, there := range map[string]func(s *apptest.Stage) error{
		"suspended": func(s *apptest.Stage) error { return s.Sim.Suspend(s.Install, true) },
		"taken out": func(s *apptest.Stage) error { return s.Sim.RemoveFromInstallation(s.Install, apptest.Repo) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shop(t, "pass")
			s.Hold(apptest.Point{When: "before", Kind: sia.DoAttempt, Attempt: 1})
			n := openLabelled(t, s, apptest.Owner)
			s.Until()
			s.Sim.DropDeliveries(func(d ghsim.Delivery) bool { return strings.HasPrefix(d.Event, "installation") })
			check(t, there(s))
			s.Quiet()
			s.Sim.DropDeliveries(nil)
			if name == "suspended" {
				check(t, s.Sim.Suspend(s.Install, false))
			} else {
				s.InstallOn(apptest.Name)
			}
			s.Quiet()
			s.Periodic("redeliver")
			s.Quiet()
			s.Go()
			s.Settle()
			if task := s.Task(n); task.State != sia.Passed {
				t.Errorf("it is %s: %s", task.State, task.Ended)
			}
		})
	}
}

// An installation continues after its suspension ended, even if that delivery is lost.
func TestSuspensionThatEndedUnheard(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	check(t, s.Sim.Suspend(s.Install, true))
	s.Settle()
	s.Sim.DropDeliveries(func(d ghsim.Delivery) bool { return d.Event == "installation" })
	check(t, s.Sim.Suspend(s.Install, false))
	n := openLabelled(t, s, apptest.Owner)
	s.Settle()
	if state := s.Task(n).State; state != sia.OnHold {
		t.Errorf("before anybody looked it is %s", state)
	}
	s.Periodic("heartbeat")
	s.Settle()
	if state := s.Task(n).State; state != sia.Passed {
		t.Errorf("it is %s", state)
	}
}

// Three tasks a minute of one user begin; the others are recorded at once, show when their turn comes, and none is
// lost.
//
//test:race
func TestManyStarts(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	var issues []int
	for range 8 {
		issues = append(issues, openLabelled(t, s, apptest.Owner))
	}
	s.Quiet()
	ctx := context.Background()
	for i, n := range issues {
		waits := strings.Contains(said(t, s, n), "It waits for its turn and begins at")
		task := s.Task(n)
		if waits != (i >= 3) || i >= 3 && !task.BeginsAt.After(s.Clock.Now()) {
			t.Errorf("#%d: %s, begins at %s: %s", n, task.State, task.BeginsAt, said(t, s, n))
		}
		on, err := s.Sim.Issue(apptest.Repo, n)
		if err != nil || len(on.Reactions) != 1 || on.Reactions[0].Content != "eyes" {
			t.Errorf("#%d: reactions %v, %v", n, on.Reactions, err)
		}
	}
	begins := s.Task(issues[7]).BeginsAt.Sub(s.Clock.Now())
	if begins < 110*time.Second || begins > 2*time.Minute {
		t.Errorf("the eighth begins in %s, want about two minutes", begins)
	}
	s.Settle()
	for _, n := range issues {
		if task, err := s.App.Store.Task(ctx, s.Task(n).ID); err != nil || task.State != sia.Passed {
			t.Errorf("#%d is %s, %v", n, task.State, err)
		}
	}
}

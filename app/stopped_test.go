package app_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/scripted"
)

// A renamed label stays on its issues. Its tasks continue, and end when it is removed under its new name.
func TestLabelRenamed(t *testing.T) {
	t.Parallel()
	for _, off := range []bool{false, true} {
		s := shop(t, "pass")
		s.Hold(apptest.Point{When: "before", Kind: sia.DoAttempt, Attempt: 1})
		n := openLabelled(t, s, apptest.Owner)
		s.Until()
		check(t, s.Sim.RenameLabel(apptest.Repo, apptest.Owner, "sia", "robot"))
		if off {
			check(t, s.Sim.Unlabel(apptest.Repo, n, apptest.Owner, "robot"))
		}
		s.Wait(time.Minute)
		s.Periodic("look")
		s.Go()
		s.Settle()
		if task := s.Task(n); (task.State == sia.Passed) == off || (task.State == sia.Stopped) != off {
			t.Errorf("taken off %v: it is %s: %s", off, task.State, task.Ended)
		}
	}
}

// An attempt that a user stops while the model responds reports that in words for users.
func TestStoppedWhileTheModelAnswers(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Config{Files: map[string]string{"a.txt": "a\n"},
		Model: resumeModel(&scripted.Fault{Stall: true, After: 1})})
	_, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Put a greeting into hello.txt.")
	check(t, err)
	check(t, s.Sim.Label(apptest.Repo, 1, apptest.Owner, "sia"))
	ctx, cancel := context.WithTimeout(t.Context(), apptest.Limit)
	defer cancel()
	check(t, s.Model.Wait(ctx, 3))
	_, err = s.Sim.Comment(apptest.Repo, 1, apptest.Owner, "/sia stop")
	check(t, err)
	s.Settle()
	a := s.Task(1).Attempts[0]
	if !strings.HasPrefix(a.Reason, "it was stopped") {
		t.Errorf("the attempt says: %q", a.Reason)
	}
}

// An attempt that a user stops while the model is unavailable keeps its work on the branch.
func TestStoppedWhileTheModelIsAway(t *testing.T) {
	t.Parallel()
	away := &scripted.Fault{Status: 503, Header: map[string]string{"Retry-After": "600"}}
	s := apptest.Start(t, apptest.Config{Files: map[string]string{"a.txt": "a\n"}, Model: resumeModel(away)})
	s.Hold(apptest.Point{When: "after", Kind: sia.DoAttempt, Attempt: 1})
	n := openLabelled(t, s, apptest.Owner)
	s.Until()
	_, err := s.Sim.Comment(apptest.Repo, n, apptest.Owner, "/sia stop")
	check(t, err)
	s.Cut()
	s.Settle()
	a := s.Task(n).Attempts[0]
	if a.Outcome != sia.AttemptCancelled || a.Reason != "it was stopped" || a.Turns != 2 {
		t.Errorf("attempt 1: %s (%s), %d turns", a.Outcome, a.Reason, a.Turns)
	}
	if got, err := s.Sim.File(apptest.Repo, string(a.Head), "hello.txt"); err != nil || got != "Hello, world!\n" {
		t.Errorf("hello.txt: %q, %v", got, err)
	}
}

// The work of an attempt that is paused when it is whole counts: the next attempt finds nothing to change, and the
// checks decide.
func TestPausedWhenItIsWhole(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	check(t, s.Model.SetScript(resumeModel(&scripted.Fault{Stall: true, After: 1})))
	n := openLabelled(t, s, apptest.Owner)
	ctx, cancel := context.WithTimeout(t.Context(), apptest.Limit)
	defer cancel()
	check(t, s.Model.Wait(ctx, 3))
	_, err := s.Sim.Comment(apptest.Repo, n, apptest.Owner, "/sia pause")
	check(t, err)
	s.Settle()
	if task := s.Task(n); task.State != sia.OnHold || task.Head == "" {
		t.Fatalf("it is %s at %q", task.State, task.Head)
	}
	finish := scripted.Answer{Calls: []scripted.Call{{Name: "finish", Args: map[string]any{"summary": "Greeted."}}}}
	check(t, s.Model.SetScript(scripted.Script{Rules: []scripted.Rule{{Name: "coder", Model: "coder",
		Turns: []scripted.Answer{finish}}}}))
	_, err = s.Sim.Comment(apptest.Repo, n, apptest.Owner, "/sia resume")
	check(t, err)
	s.Settle()
	if task := s.Task(n); task.State != sia.Passed || len(task.Attempts) != 2 {
		t.Errorf("it is %s after %d attempts", task.State, len(task.Attempts))
	}
}

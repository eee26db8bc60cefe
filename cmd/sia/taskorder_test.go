package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
)

// A running server obeys an order from another process: the running attempt is stopped, the issue names who paused it
// and why, and the task continues when it is resumed.
//
//test:thorough
func TestOrdersReachAServer(t *testing.T) {
	t.Parallel()
	s := passStory(t)
	s.Hold(apptest.Point{When: "before", Kind: sia.DoAttempt, Attempt: 1})
	issue, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Put a greeting into `hello.txt`.",
		"sia")
	if err != nil {
		t.Fatal(err)
	}
	s.Until()
	tell := func(fact sia.Fact) {
		t.Helper()
		beside, err := store.Open(t.Context(), store.Config{URL: s.Database(), Now: s.Clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		res, err := order(t.Context(), beside, s.Task(issue), fact, s.Clock.Now())
		if err = errors.Join(err, beside.Close()); err != nil || res.Ignored != "" {
			t.Fatal(err, res.Ignored)
		}
	}
	tell(sia.PauseAsked{Reason: operatorReason("paused it", "We look at\nthe bill.")})
	s.Cut() // the order came from another process
	s.Settle()
	task := s.Task(issue)
	if task.State != sia.OnHold || task.Attempts[0].Outcome != sia.AttemptCancelled || !task.Pause.By.Operator {
		t.Errorf("%s, attempt 1 %q, paused by %+v", task.State, task.Attempts[0].Outcome, task.Pause)
	}
	on, err := s.Sim.Issue(apptest.Repo, issue)
	if err != nil {
		t.Fatal(err)
	}
	if said := on.Comments[0].Body; !strings.Contains(said, "Whoever runs the server paused it: We look at the bill.") {
		t.Errorf("the issue says:\n%s", said)
	}
	tell(sia.Resume{})
	s.Settle()
	if state := s.Task(issue).State; state != sia.Passed {
		t.Errorf("it is %s after it was resumed", state)
	}
}

package app_test

import (
	"math"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/flavour"
)

// An issue is resolved over HTTP in each protocol, with servers that keep state like real ones: the first attempt
// fails, it is diagnosed and reviewed, the second passes, and the change is reviewed finally. The task's cost equals
// the servers' charges.
func TestTaskInEachDialect(t *testing.T) {
	t.Parallel()
	for _, f := range flavour.Stateful() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			s := theStory(t, "pass-after-sia").StartWith(t, func(c *apptest.Config) {
				c.Flavours = map[string]flavour.Flavour{"": f}
			})
			n := openLabelled(t, s, apptest.Owner)
			s.Settle()
			task := s.Task(n)
			if task.State != sia.Passed || len(task.Attempts) != 2 || task.Attempts[0].Outcome != sia.AttemptFail ||
				len(task.Interventions) != 1 {
				t.Fatalf("%s, %+v, attempts %+v; SIA said:\n%s", task.State, task.Pause, task.Attempts, said(t, s, n))
			}
			checkBill(t, s, n)
		})
	}
}

// Two coders work on a task, each with its own protocol: the first one's changes and failure reach the second, without
// its reasoning.
func TestTwoCodersInDialectsOfTheirOwn(t *testing.T) {
	t.Parallel()
	all := flavour.Stateful()
	for i, f := range all {
		next := all[(i+1)%len(all)]
		if f.Speaks == next.Speaks {
			continue
		}
		t.Run(f.Name+", then "+next.Name, func(t *testing.T) {
			t.Parallel()
			s := theStory(t, "other-coder").StartWith(t, func(c *apptest.Config) {
				c.Flavours = map[string]flavour.Flavour{"fast": f, "strong": next}
			})
			n := openLabelled(t, s, apptest.Owner)
			s.Settle()
			task := s.Task(n)
			if task.State != sia.Passed || len(task.Attempts) != 2 || task.Attempts[0].Coder != "fast" ||
				task.Attempts[1].Coder != "strong" {
				t.Fatalf("%s, %+v, attempts %+v; SIA said:\n%s", task.State, task.Pause, task.Attempts, said(t, s, n))
			}
		})
	}
}

// checkBill compares a task's cost with the charges of the servers in front of the model.
func checkBill(t *testing.T, s *apptest.Stage, issue int) {
	t.Helper()
	usd := 0.0
	for _, front := range s.Fronts {
		b, _ := front.Bill()
		usd += (float64(b.Input-b.Cached-b.Written)*3 + float64(b.Cached)*0.3 + float64(b.Written)*3.75 +
			float64(b.Output)*15) / 1e6
	}
	booked, err := s.App.Store.TotalCreditsSpent(t.Context(), time.Time{}, time.Time{})
	check(t, err)
	if got := float64(booked) / float64(sia.Credit) / 100; usd == 0 || math.Abs(got-usd) >= 0.01 {
		t.Errorf("the account says %.4f USD, the servers %.4f", got, usd)
	}
	var used sia.Tokens
	for _, a := range s.Task(issue).Attempts {
		used = used.Add(a.Tokens)
	}
	b, _ := s.Fronts["coder"].Bill()
	if want := (sia.Tokens{Input: b.Input, Cached: b.Cached, Written: b.Written, Output: b.Output}); used != want {
		t.Errorf("the attempts say %s, the coder's server %s", used, want)
	}
}

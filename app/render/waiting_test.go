package render_test

import (
	"testing"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// Every waiting state says what the task waits for, and what can be done about it.
func TestWaiting(t *testing.T) {
	pause := func(k sia.PauseKind) sia.Task {
		return sia.Task{State: sia.OnHold, Pause: &sia.Pause{Kind: k, Reason: "why"}}
	}
	ask := func(k sia.EscalationKind, stale bool) sia.Task {
		return sia.Task{State: sia.Escalated, Escalation: &sia.Escalation{Kind: k, Stale: stale}}
	}
	const (
		answer = "A person's answer to the question that SIA asked."
		yes    = "Somebody's yes to the plan: `/sia go`, or 👍 on its comment."
		decide = "The checks are green, but tests or protected files were changed. Somebody with write access decides: " +
			"`/sia accept-tests`, or `/sia stop`."
	)
	for _, c := range []struct {
		task sia.Task
		want string
	}{
		{pause(sia.PausedByPerson), "why. `/sia resume` goes on where it stopped."},
		{pause(sia.PausedByTrouble), "why. `/sia resume` tries again."},
		{pause(sia.PausedByCredits),
			"why. `/sia resume +50` adds 50 credits (0.50 USD) and goes on; `/sia stop` ends the task."},
		{pause(sia.PausedByPushes), "why. Stop pushing to it, then `/sia resume` tries again."},
		{ask(sia.AskIssue, false), answer},
		{ask(sia.AskQuestion, false), answer},
		{ask(sia.AskNoChecks, false), answer},
		{ask(sia.AskPlan, false), yes},
		{sia.Task{State: sia.Escalated, Escalation: &sia.Escalation{Kind: sia.AskAlready,
			Already: &sia.Already{What: "commit 1a2b3c4 on `main` closes this issue"}}},
			"Commit 1a2b3c4 on `main` closes this issue. `/sia start anyway` has SIA work on it, `/sia stop` ends the task."},
		{ask(sia.AskPlan, true),
			yes + " The issue was edited after the plan was made; `/sia retry` has a new one made."},
		{sia.Task{State: sia.Stopped, Ended: "@mia asked to stop"}, "@mia asked to stop"},
		{sia.Task{State: sia.Checking, Gate: sia.GateState{AwaitsPerson: true}}, decide},
		{sia.Task{State: sia.Checking, Head: "def5678", Accepted: []sia.SHA{"abc1234"},
			Gate: sia.GateState{AwaitsPerson: true}}, decide + " What was accepted before was `abc1234`: that does not hold " +
			"for `def5678`."},
		{sia.Task{State: sia.Checking, Head: "def5678", Lapsed: true, BaseBranch: "v1",
			Gate: sia.GateState{AwaitsPerson: true}}, decide + " What was accepted before was for another base: that does " +
			"not hold for `v1`."},
	} {
		if got := render.Waiting(c.task); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	for _, state := range sia.States {
		if got := render.Waiting(sia.Task{State: state}); got != "" {
			t.Errorf("%s waits for nothing, and it says %q", state, got)
		}
	}
}

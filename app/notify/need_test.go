package notify

import (
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Each question, pause or head has another key; tasks that don't wait for a user, or that a user paused, have none.
func TestNeed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 3, 7, 0, 0, 0, time.UTC)
	green := func(head sia.SHA, awaits bool) sia.Task {
		return sia.Task{State: sia.Checking, Head: head, Gate: sia.GateState{AwaitsPerson: awaits}}
	}
	asked := func(at time.Time) sia.Task {
		return sia.Task{State: sia.Escalated, Escalation: &sia.Escalation{AskedAt: at}}
	}
	paused := func(by sia.PauseKind, since time.Time) sia.Task {
		return sia.Task{State: sia.OnHold, Since: since, Pause: &sia.Pause{Kind: by}}
	}
	draft := func(head sia.SHA, p sia.Pull) sia.Task {
		p.Number, p.Draft = 3, true
		return sia.Task{State: sia.Passed, Head: head, Pull: p}
	}
	merged := draft("a", sia.Pull{Refused: "the app may not", Merged: true})
	seen := map[string]bool{}
	for i, task := range []sia.Task{
		green("a", true), green("b", true), asked(now), asked(now.Add(time.Second)), paused(sia.PausedByCredits, now),
		paused(sia.PausedByTrouble, now.Add(time.Second)), paused(sia.PausedByWorth, now.Add(time.Minute)),
		paused(sia.PausedByPushes, now.Add(time.Hour)), draft("a", sia.Pull{Refused: "the app may not"}),
		draft("b", sia.Pull{Refused: "the app may not"}),
	} {
		task.ID = "7-1"
		key := needKey(task)
		if key == "" || seen[key] {
			t.Errorf("need %d: %q", i, key)
		}
		seen[key] = true
	}
	answered := asked(now)
	answered.State = sia.Queued // the last question remains in the task
	for i, task := range []sia.Task{
		green("a", false), paused(sia.PausedByPerson, now), paused(sia.PausedByHalt, now), answered, {State: sia.Passed},
		merged, draft("a", sia.Pull{}), draft("a", sia.Pull{Refused: "the app may not", LeftDraft: true}),
	} {
		if key := needKey(task); key != "" {
			t.Errorf("%d is needed for %q", i, key)
		}
	}
}

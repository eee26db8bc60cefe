package replay_test

import (
	"testing"

	"github.com/sia-bot/sia/lab/replay"
)

// TestDuels: a task counts where the loop resolved it by one of two policies alone, with the same models and otherwise
// the same policies, in more than half of its runs.
func TestDuels(t *testing.T) {
	const was, now, other = "recover/1@a", "recover/2@b", "escalate/1@c"
	run := func(task string, resolved bool, with ...string) replay.Result {
		return replay.Result{Task: task, Resolved: resolved, Attempts: 1, Policies: with, Models: []string{"m"}}
	}
	elsewhere := run("models", true, now, other)
	elsewhere.Models = []string{"stronger"}
	runs := []replay.Result{
		run("won", false, was, other), run("won", true, now, was, other), // a shipped policy stays beside its change
		run("lost", true, was, other), run("lost", false, now, other),
		run("both", true, was, other), run("both", true, now, other),
		run("half", true, was, other), run("half", false, was, other), run("half", true, now, other),
		run("once", true, now, other),
		run("policies", false, was, other), run("policies", true, now),
		run("models", false, was, other), elsewhere,
		{Task: "won", Resolved: true}, // one attempt, without the loop
	}
	if won, lost := replay.Duels(runs, was, now); won != 2 || lost != 1 { // won and half; lost
		t.Errorf("won %d and lost %d", won, lost)
	}
	if won, lost, err := replay.DuelsIn(t.TempDir())("ada/shop", "now", "changed"); won+lost > 0 || err != nil {
		t.Errorf("a repository without a folder has %d won, %d lost, %v", won, lost, err)
	}
}

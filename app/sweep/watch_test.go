package sweep

import (
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
)

// TestWatchedAgain: a passed pull request is looked at about once a day, and an hour after a look that failed.
func TestWatchedAgain(t *testing.T) {
	passed := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	task := sia.Task{ID: "7-1", Since: passed, State: sia.Passed}
	var w turns
	looks := func(from, to time.Duration) (at []time.Duration) {
		for d := from; d < to; d += time.Hour {
			if len(w.take([]sia.Task{task}, passed.Add(d))) > 0 {
				at = append(at, d)
			}
		}
		return at
	}
	first := looks(0, 48*time.Hour)
	if len(first) != 1 && len(first) != 2 || first[0] < 18*time.Hour || first[0] > 31*time.Hour {
		t.Fatalf("it was looked at after %v", first)
	}
	w.again(task, passed.Add(49*time.Hour))
	if again := looks(48*time.Hour, 66*time.Hour); len(again) != 1 || again[0] != 49*time.Hour {
		t.Errorf("after a look that failed at 48h it was looked at at %v", again)
	}
}

// TestTurnsAfterAnOutage: each of 450 tasks is looked at once before any is looked at again, and never more than a
// hundred in a round; then the ones that work more often than those that wait for people, and not all at a time.
func TestTurnsAfterAnOutage(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var all []sia.Task
	for i := range 450 {
		task := sia.Task{ID: sia.NewTaskID(7, i), Since: start.Add(-72 * time.Hour), State: sia.Escalated}
		if i%3 == 0 {
			task.State = sia.Checking
		}
		all = append(all, task)
	}
	var w turns
	looks := map[sia.State]int{}
	seen := map[sia.TaskID]bool{}
	for minute := range 60 {
		round := w.take(all, start.Add(time.Duration(minute)*time.Minute))
		if len(round) > mostTurns {
			t.Fatalf("%d looks in one minute", len(round))
		}
		for _, task := range round {
			if minute < 4 && seen[task.ID] {
				t.Errorf("%s is looked at again in minute %d, before others were", task.ID, minute)
			}
			seen[task.ID] = true
			looks[task.State]++
		}
		if minute == 4 && len(seen) != len(all) {
			t.Errorf("%d of %d were looked at in five minutes", len(seen), len(all))
		}
	}
	if n := looks[sia.Checking] / 150; n < 10 || n > 20 {
		t.Errorf("a task that works is looked at %d times in an hour", n)
	}
	if n := looks[sia.Escalated] / 300; n < 3 || n > 6 {
		t.Errorf("a task that waits for a person is looked at %d times in an hour", n)
	}
}

// TestTurnsOfWhatGoesOn: a task that goes on after a person's answer is looked at soon.
func TestTurnsOfWhatGoesOn(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	task := sia.Task{ID: "7-1", State: sia.Escalated}
	var w turns
	w.take([]sia.Task{task}, now)
	task.State = sia.Working
	w.take([]sia.Task{task}, now)
	if len(w.take([]sia.Task{task}, now.Add(hotEvery*5/4))) == 0 {
		t.Error("it is left alone as if it waited for a person")
	}
}

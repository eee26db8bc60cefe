package sweep

import (
	"context"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// TestWatchedAgain: a passed pull request is looked at about once a day, and an hour after a look that failed.
func TestWatchedAgain(t *testing.T) {
	passed := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	task := store.Look{Task: "7-1", Temperature: sia.Cold, Changed: passed}
	w := schedule{every: lookIntervals, max: maxPerRound, fromLastChange: true}
	looks := func(from, to time.Duration) (at []time.Duration) {
		for d := from; d < to; d += time.Hour {
			if len(w.due([]store.Look{task}, passed.Add(d))) > 0 {
				at = append(at, d)
			}
		}
		return at
	}
	first := looks(0, 48*time.Hour)
	if len(first) != 1 && len(first) != 2 || first[0] < 18*time.Hour || first[0] > 31*time.Hour {
		t.Fatalf("it was looked at after %v", first)
	}
	w.reschedule(task.Task, passed.Add(49*time.Hour))
	if again := looks(48*time.Hour, 66*time.Hour); len(again) != 1 || again[0] != 49*time.Hour {
		t.Errorf("after a look that failed at 48h it was looked at at %v", again)
	}
}

// mixed returns tasks that have not ended; every third of them is working.
func mixed(n int) (all []store.Look) {
	for i := range n {
		look := store.Look{Task: sia.NewTaskID(7, i), Temperature: sia.Warm}
		if i%3 == 0 {
			look.Temperature = sia.Hot
		}
		all = append(all, look)
	}
	return all
}

// TestTurnsAfterAnOutage: each of 450 tasks is looked at once before any is looked at again, at most a hundred in a
// round; then the working ones more often than those that wait for users, spread over time.
func TestTurnsAfterAnOutage(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	all := mixed(450)
	w := schedule{every: lookIntervals, max: maxPerRound}
	temperature := map[sia.TaskID]sia.Temperature{}
	for _, l := range all {
		temperature[l.Task] = l.Temperature
	}
	looks := map[sia.Temperature]int{}
	seen := map[sia.TaskID]bool{}
	for minute := range 60 {
		round := w.due(all, start.Add(time.Duration(minute)*time.Minute))
		if len(round) > maxPerRound {
			t.Fatalf("%d looks in one minute", len(round))
		}
		for _, id := range round {
			if minute < 4 && seen[id] {
				t.Errorf("%s is looked at again in minute %d, before others were", id, minute)
			}
			seen[id] = true
			looks[temperature[id]]++
		}
		if minute == 4 && len(seen) != len(all) {
			t.Errorf("%d of %d were looked at in five minutes", len(seen), len(all))
		}
	}
	if n := looks[sia.Hot] / 150; n < 10 || n > 20 {
		t.Errorf("a task that works is looked at %d times in an hour", n)
	}
	if n := looks[sia.Warm] / 300; n < 3 || n > 6 {
		t.Errorf("a task that waits for a person is looked at %d times in an hour", n)
	}
}

// TestTurnsOfThousands: under overload each task has its turn, working ones more often.
func TestTurnsOfThousands(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	all := mixed(5000)
	w := schedule{every: lookIntervals, max: maxPerRound}
	looks := map[sia.TaskID]int{}
	const hours = 8
	for minute := range hours * 60 {
		round := w.due(all, start.Add(time.Duration(minute)*time.Minute))
		if len(round) > maxPerRound {
			t.Fatalf("%d looks in one minute", len(round))
		}
		for _, id := range round {
			looks[id]++
		}
	}
	fewest, sum := map[sia.Temperature]int{sia.Hot: 1 << 30, sia.Warm: 1 << 30}, map[sia.Temperature]int{}
	for _, l := range all {
		fewest[l.Temperature] = min(fewest[l.Temperature], looks[l.Task])
		sum[l.Temperature] += looks[l.Task]
	}
	if fewest[sia.Warm] < hours/2 || fewest[sia.Hot] < 2*fewest[sia.Warm] || sum[sia.Hot] < sum[sia.Warm] {
		t.Errorf("in %d hours each was looked at %v times at least, all of them %v times", hours, fewest, sum)
	}
}

// TestTurnsOfWhatGoesOn: a task that continues after a user's answer is looked at soon.
func TestTurnsOfWhatGoesOn(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	task := store.Look{Task: "7-1", Temperature: sia.Warm}
	w := schedule{every: lookIntervals, max: maxPerRound}
	w.due([]store.Look{task}, now)
	task.Temperature = sia.Hot
	w.due([]store.Look{task}, now)
	if len(w.due([]store.Look{task}, now.Add(hotInterval*5/4))) == 0 {
		t.Error("it is left alone as if it waited for a person")
	}
}

// TestEveryTaskHasItsTurn: of more than a thousand tasks that have not ended, each has its turn, including the one that
// changed longest ago, a hundred a round; so has each that has passed.
func TestEveryTaskHasItsTurn(t *testing.T) {
	const tasks = 1050
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	db := storetest.Open(t, store.Config{Now: func() time.Time { return now }})
	for i := range tasks {
		id := sia.NewTaskID(7, i+1)
		e := sia.Event{ID: "start", At: now, Fact: sia.Start{Repo: sia.Repo{ID: 7}, Issue: i + 1, Title: "t",
			DefaultBranch: "main"}}
		if i%2 == 0 {
			e.Fact = sia.Restored{Task: sia.Task{ID: id, Repo: sia.Repo{ID: 7}, Issue: i + 1, State: sia.Passed,
				Pull: sia.Pull{Number: tasks + i + 1}}}
		}
		if _, err := db.Apply(t.Context(), id, e); err != nil {
			t.Fatal(err)
		}
	}
	s := &Sweeper{Looker: &Looker{store: db, now: func() time.Time { return now }}}
	for _, c := range []struct {
		of sia.Temperature
		w  *schedule
	}{
		{sia.Hot, &schedule{every: lookIntervals, max: maxPerRound}},
		{sia.Cold, &schedule{every: lookIntervals, max: maxPerRound, fromLastChange: true}},
	} {
		now = now.Add(2 * coldInterval)
		seen := map[sia.TaskID]bool{}
		for range tasks/2/maxPerRound + 1 {
			before := len(seen)
			if err := s.forDue(t.Context(), c.w, func(_ context.Context, task sia.Task) error {
				seen[task.ID] = true
				return nil
			}, c.of); err != nil {
				t.Fatal(err)
			}
			if n := len(seen) - before; n > maxPerRound {
				t.Errorf("%d in one round", n)
			}
		}
		if len(seen) != tasks/2 {
			t.Errorf("%d of %d %s tasks had their turn", len(seen), tasks/2, c.of)
		}
	}
}

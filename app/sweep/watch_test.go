package sweep

import (
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
)

// TestWatchedAgain: a passed pull request is looked at about once a day, and an hour after a look that failed.
func TestWatchedAgain(t *testing.T) {
	passed := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	task := sia.Task{ID: "7-1", Since: passed}
	var w watched
	looks := func(from, to time.Duration) (at []time.Duration) {
		for d := from; d < to; d += time.Hour {
			if w.due(task, passed.Add(d)) {
				at = append(at, d)
			}
		}
		return at
	}
	first := looks(0, 48*time.Hour)
	if len(first) != 1 && len(first) != 2 || first[0] < 18*time.Hour || first[0] > 31*time.Hour {
		t.Fatalf("it was looked at after %v", first)
	}
	w.failed(task, passed.Add(48*time.Hour))
	if again := looks(48*time.Hour, 66*time.Hour); len(again) != 1 || again[0] != 49*time.Hour {
		t.Errorf("after a look that failed at 48h it was looked at at %v", again)
	}
}

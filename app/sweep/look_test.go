package sweep

import (
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
)

// TestAFormerHeadIsNoPushForAWhile: after a push, some of GitHub's servers still show
// the head of before, which nobody pushed.
func TestAFormerHeadIsNoPushForAWhile(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	task := sia.Task{Head: "c2", State: sia.Checking, Since: now.Add(-time.Second),
		Attempts: []sia.Attempt{{Number: 1, Head: "c1"}, {Number: 2, Head: "c2"}}}
	later := now.Add(lookMargin)
	for _, c := range []struct {
		name  string
		head  sia.SHA
		at    time.Time
		state sia.State
		want  bool
	}{
		{"the present head", "c2", now, sia.Checking, false},
		{"the head of before, just now", "c1", now, sia.Checking, false},
		{"the head of before, still", "c1", later, sia.Checking, true},
		{"a person's", "c3", now, sia.Checking, true},
		{"none", "", now, sia.Checking, false},
		{"while an attempt works", "c3", now, sia.Working, false},
	} {
		task.State = c.state
		if got := moved(task, c.head, c.at); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

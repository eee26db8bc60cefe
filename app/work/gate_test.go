package work

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
)

// TestEarlierHeads: what reported on the heads before is missed, on those of the last attempts, too, when people have
// pushed more since than a task remembers.
func TestEarlierHeads(t *testing.T) {
	task := sia.Task{Head: "h9", Former: []sia.SHA{"p1", "p2", "p3"},
		Attempts: []sia.Attempt{{Head: "a1"}, {Head: "a2"}, {}, {Head: "h9"}}}
	if got := strings.Join(earlierHeads(task), " "); got != "p3 p2 p1 a2 a1" {
		t.Errorf("the heads are %s", got)
	}
	task.Former = append(task.Former, "a2")
	for i := range 10 {
		task.Attempts = append(task.Attempts, sia.Attempt{Head: sia.SHA(fmt.Sprint("b", i))})
	}
	if got := earlierHeads(task); strings.Join(got, " ") != "a2 p3 p2 p1 b9" || len(got) != github.MaxEarlier {
		t.Errorf("the heads are %v", got)
	}
}

package app_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
)

// TestLagThatStaysIsSaid: SIA retries a few times if GitHub's data stays outdated, and then shows GitHub's message to
// users.
func TestLagThatStaysIsSaid(t *testing.T) {
	t.Parallel()
	for _, story := range apptest.Stories(t, "testdata/stories") {
		if story.Name != "pass" {
			continue
		}
		s := story.Start(t)
		s.Sim.Lag(1000)
		if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Greet them.", "sia"); err != nil {
			t.Fatal(err)
		}
		s.Settle()
		task := s.Task(1)
		if task.State != sia.OnHold || !strings.Contains(task.Pause.Reason, "Validation Failed: head invalid") {
			t.Errorf("the task is %s: %+v", task.State, task.Pause)
		}
		posts := 0
		for _, c := range s.Sim.Calls() {
			if c.Method == http.MethodPost && strings.HasSuffix(c.Path, "/pulls") {
				posts++
			}
		}
		if posts < 2 || posts > 6 {
			t.Errorf("asked %d times", posts)
		}
		s.Sim.Lag(0) // once it is up to date, the task continues
		if _, err := s.Sim.Comment(apptest.Repo, 1, apptest.Owner, "/sia resume"); err != nil {
			t.Fatal(err)
		}
		s.Settle()
		if got := s.Task(1).State; got != sia.Passed {
			t.Errorf("then the task is %s", got)
		}
	}
}

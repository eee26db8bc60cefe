package app_test

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
)

// TestOwnCheckIsShownAnew: GitHub leaves a check suite queued that somebody asked
// for again, until its app writes to it, whatever the task is at.
func TestOwnCheckIsShownAnew(t *testing.T) {
	stories := map[string]apptest.Story{}
	for _, s := range apptest.Stories(t, "testdata/stories") {
		stories[s.Name] = s
	}
	for name, suite := range map[string]bool{"the suite": true, "the run": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stories["pass"].Start(t)
			_, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Put a greeting into `hello.txt`.",
				"sia")
			if err != nil {
				t.Fatal(err)
			}
			s.Settle()
			head := string(s.Task(1).Head)
			status, conclusion, err := s.Sim.SuiteState(apptest.Repo, head, apptest.Slug)
			if status != "completed" || err != nil {
				t.Fatalf("before: %s %s %v", status, conclusion, err)
			}
			for range 2 { // as often as they like
				if suite {
					err = s.Sim.RerequestSuite(apptest.Repo, head, apptest.Slug, apptest.Owner)
				} else {
					runs, _ := s.Sim.CheckRuns(apptest.Repo, head)
					for _, r := range runs {
						if r.App == apptest.Slug {
							err = s.Sim.RerequestCheckRun(apptest.Repo, r.ID, apptest.Owner)
						}
					}
				}
				if err != nil {
					t.Fatal(err)
				}
				s.Settle()
				status, conclusion, err := s.Sim.SuiteState(apptest.Repo, head, apptest.Slug)
				if status != "completed" || conclusion != "success" || err != nil {
					t.Errorf("after: %s %s %v", status, conclusion, err)
				}
				if got := s.Task(1).State; got != sia.Passed {
					t.Errorf("the task is %s", got)
				}
			}
			shown := 0
			for _, call := range s.Sim.Calls() {
				if call.Method == "PATCH" && strings.Contains(call.Path, "/check-runs/") {
					shown++
				}
			}
			if shown < 4 {
				t.Errorf("it was written %d times", shown)
			}
		})
	}
}

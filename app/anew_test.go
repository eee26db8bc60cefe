package app_test

import (
	"slices"
	"testing"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// TestOwnCheckIsShownAnew: GitHub leaves a re-requested check suite queued until its app writes to it, in every state
// of the task.
func TestOwnCheckIsShownAnew(t *testing.T) {
	t.Parallel()
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
			for range 2 { // repeatedly
				if suite {
					err = s.Sim.RerequestSuite(apptest.Repo, head, apptest.Slug, apptest.Owner)
				} else {
					own := ownChecks(t, s, head)
					err = s.Sim.RerequestCheckRun(apptest.Repo, own[len(own)-1].ID, apptest.Owner)
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
			// Each time it was shown as in progress, in its own run: GitHub does not reopen completed ones.
			own := ownChecks(t, s, head)
			if last := own[len(own)-1]; len(own) != 3 || last.Conclusion != "success" {
				t.Errorf("%d check runs, the last %q", len(own), last.Title)
			}
		})
	}
}

// ownChecks returns SIA's own check runs on a commit, oldest first.
func ownChecks(t *testing.T, s *apptest.Stage, head string) []ghsim.CheckView {
	t.Helper()
	runs, err := s.Sim.CheckRuns(apptest.Repo, head)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(runs, func(r ghsim.CheckView) bool { return r.App != apptest.Slug })
}

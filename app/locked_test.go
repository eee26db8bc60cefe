package app_test

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
)

// TestLockedConversation: SIA comments on the issue if the conversation of the pull request is locked. If both are
// locked, the task pauses and says which one to unlock.
// https://github.com/renovatebot/renovate/issues/6215
func TestLockedConversation(t *testing.T) {
	t.Parallel()
	s := storyNamed(t, "pass-after-sia").Start(t)
	s.Hold(apptest.Point{When: "before", Kind: sia.DoAnnounce, Attempt: 1})
	if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Greet them.", "sia"); err != nil {
		t.Fatal(err)
	}
	s.Until()
	pull := s.Task(1).Pull.Number
	check(t, s.Sim.Lock(apptest.Repo, pull, apptest.Owner, true))
	check(t, s.Sim.Lock(apptest.Repo, 1, apptest.Owner, true))
	s.Go()
	s.Settle()
	task := s.Task(1)
	if task.State != sia.OnHold || !strings.Contains(task.Pause.Reason, "the conversation is locked") {
		t.Errorf("the task is %s: %+v", task.State, task.Pause)
	}
	check(t, s.Sim.Lock(apptest.Repo, 1, apptest.Owner, false))
	if _, err := s.Sim.Comment(apptest.Repo, 1, apptest.Owner, "/sia resume"); err != nil {
		t.Fatal(err)
	}
	s.Settle()
	if task = s.Task(1); task.State != sia.Passed || !strings.Contains(task.Interventions[0].CommentURL, "/issues/1#") {
		t.Errorf("then the task is %s, with %+v", task.State, task.Interventions)
	}
}

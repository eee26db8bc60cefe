package app_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/scripted"
)

// An attempt that a person stops while the model answers says so in words for people.
func TestStoppedWhileTheModelAnswers(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Config{Files: map[string]string{"a.txt": "a\n"},
		Model: resumeModel(&scripted.Fault{Stall: true, After: 1})})
	_, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Put a greeting into hello.txt.")
	check(t, err)
	check(t, s.Sim.Label(apptest.Repo, 1, apptest.Owner, "sia"))
	ctx, cancel := context.WithTimeout(t.Context(), apptest.Limit)
	defer cancel()
	check(t, s.Model.Wait(ctx, 3))
	_, err = s.Sim.Comment(apptest.Repo, 1, apptest.Owner, "/sia stop")
	check(t, err)
	s.Settle()
	a := s.Task(1).Attempts[0]
	if !strings.HasPrefix(a.Reason, "it was stopped") {
		t.Errorf("the attempt says: %q", a.Reason)
	}
}

package github_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

// TestOpenings reads what prevents pull requests.
func TestOpenings(t *testing.T) {
	s := open(t, ghsim.Config{NoWorkflows: true})
	ctx := context.Background()
	look := func(want github.Opening) {
		t.Helper()
		want.Repo = full
		all, more, err := s.app.Openings(ctx, s.in, 20)
		check(t, err)
		if d := cmp.Diff([]github.Opening{want}, all); d != "" || more != 0 {
			t.Errorf("%d more; %s", more, d)
		}
	}
	look(github.Opening{Silent: true})
	check(t, s.sim.CreateStatus(full, s.head, "ann", "ci/legacy", "success", "It is green"))
	look(github.Opening{})
	check(t, s.sim.SwitchOff(full, true, true, true))
	for _, kind := range []string{"creation", "required_linear_history", "deletion", "creation"} {
		check(t, s.sim.AddRule(full, "sia/issue-1", model.Rule{Type: kind}))
	}
	check(t, s.sim.RequireSignatures(full, "main", false))
	look(github.Opening{NoIssues: true, NoPulls: true, CollaboratorsOnly: true,
		Rules: []string{"creation", "required_linear_history"}})
	check(t, s.sim.SwitchOff(full, false, false, false))
	check(t, s.sim.HideRules(full, http.StatusForbidden))
	look(github.Opening{})
	check(t, s.sim.Archive(full))
	before := len(s.sim.Calls())
	look(github.Opening{Archived: true})
	if n := len(s.sim.Calls()) - before; n != 1 {
		t.Errorf("%d requests for a repository that is archived", n)
	}
}

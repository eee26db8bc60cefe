package app_test

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// SIA's comments move with a transferred issue. They don't continue to say there that SIA waits or works.
func TestTransferredIssueIsTold(t *testing.T) {
	t.Parallel()
	s := shop(t, "issue-transferred")
	n := resolve(t, s, "Greet the customers")
	there, err := s.Sim.TransferIssue(apptest.Repo, n, apptest.Owner, apptest.OwnersRepo)
	check(t, err)
	s.Settle()
	i, err := s.Sim.Issue(apptest.OwnersRepo, there)
	check(t, err)
	if len(i.Comments) != 1 || !strings.Contains(i.Comments[0].Body, "The issue was transferred here from `ada/shop`") {
		t.Errorf("the comments there: %+v", i.Comments)
	}
	for _, l := range render.StateLabels() {
		if strings.Contains(strings.Join(i.Labels, " "), l) {
			t.Errorf("it has the label %s", l)
		}
	}
}

// If the app may not write, nothing is written, and nothing fails.
func TestTransferredOutOfReach(t *testing.T) {
	t.Parallel()
	s := shop(t, "issue-transferred")
	n := resolve(t, s, "Greet the customers")
	_, err := s.Sim.CreateRepo(apptest.Owner, "elsewhere", ghsim.RepoSpec{})
	check(t, err)
	there, err := s.Sim.TransferIssue(apptest.Repo, n, apptest.Owner, apptest.Owner+"/elsewhere")
	check(t, err)
	s.Settle()
	i, err := s.Sim.Issue(apptest.Owner+"/elsewhere", there)
	check(t, err)
	if len(i.Comments) != 1 || strings.Contains(i.Comments[0].Body, "transferred") {
		t.Errorf("the comments there: %+v", i.Comments)
	}
	effects, err := s.App.Store.Effects(t.Context(), sia.NewTaskID(s.Task(n).Repo.ID, n))
	check(t, err)
	for _, e := range effects {
		if e.Kind == sia.DoSync && (e.State != store.EffectDone || e.Tries > 1) {
			t.Errorf("%s is %s after %d tries: %s", e.Key, e.State, e.Tries, e.Error)
		}
	}
}

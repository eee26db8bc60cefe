package app_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
)

// If the server's list excludes a repository, nothing begins there, labels are not created, and users who ask are
// informed once.
func TestRepositoriesThatAreAllowed(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Config{Repos: sia.AllowList{"acme/*", apptest.Owner + "/other"}})
	s.Settle()
	n := openLabelled(t, s, apptest.Owner)
	_, err := s.Sim.Comment(apptest.Repo, n, apptest.Owner, "/sia start")
	check(t, err)
	s.Settle()
	tasks, err := s.App.Store.Tasks(context.Background(), store.Filter{})
	check(t, err)
	if told := said(t, s, n); len(tasks) != 0 || strings.Count(told, "other repositories only") != 1 {
		t.Errorf("%d tasks; told: %s", len(tasks), told)
	}
	i, err := s.Sim.Issue(apptest.Repo, n)
	check(t, err)
	for _, l := range i.Labels {
		if strings.HasPrefix(l, "sia:") {
			t.Errorf("the label %s was made", l)
		}
	}
}

package app_test

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// movedShop is a shop with a stopped task, of which the attempt had not begun.
func movedShop(t *testing.T) (*apptest.Stage, sia.TaskID, int) {
	t.Helper()
	s := theStory(t, "pass").Start(t)
	r, err := s.Sim.Repo(apptest.Repo)
	check(t, err)
	s.Hold(apptest.Point{When: "before", Kind: sia.DoAttempt, Attempt: 1})
	n := openLabelled(t, s, apptest.Owner)
	s.Until()
	_, err = s.Sim.Comment(apptest.Repo, n, apptest.Owner, "/sia stop")
	check(t, err)
	s.Go()
	s.Settle()
	return s, sia.NewTaskID(r.ID, n), n
}

func taskNow(t *testing.T, s *apptest.Stage, id sia.TaskID) sia.Task {
	t.Helper()
	k, err := s.App.Store.Task(t.Context(), id)
	check(t, err)
	return k
}

// TestFormerName: the owner is renamed, and a stranger takes the login and makes a public repository of the former name,
// with an issue of the same number, label and text. An installation's token reads it. The task follows its repository.
func TestFormerName(t *testing.T) {
	s, id, n := movedShop(t)
	check(t, s.Sim.RenameUser(apptest.Owner, "lovelace"))
	s.Sim.CreateUser(apptest.Owner)
	_, err := s.Sim.CreateRepo(apptest.Owner, "other", ghsim.RepoSpec{Public: true, Files: map[string]string{
		"evil.txt": "a stranger's\n", ".sia/config.yml": "agent: {setup: [\"echo stranger\"]}\nchecks: {settle: 10s}\n"}})
	check(t, err)
	check(t, s.Sim.RenameRepo(apptest.Owner+"/other", "shop"))
	_, err = s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Put a greeting into `hello.txt`.", "sia")
	check(t, err)
	// The repository itself says nothing yet: what was to begin does not, on a stranger's.
	_, err = s.App.Store.Apply(t.Context(), id, sia.Event{ID: "retry", At: s.Clock.Now(), By: sia.Actor{Login: "lovelace"},
		Fact: sia.Retry{}})
	check(t, err)
	s.Settle()
	k := taskNow(t, s, id)
	if k.State != sia.OnHold || !strings.Contains(k.Pause.Reason, "the name of another repository") ||
		strings.Contains(k.SettingsFrom, "stranger") || len(k.Settings.Agent.Setup) > 0 {
		t.Errorf("%s, %+v; settings from %s: %v", k.State, k.Pause, k.SettingsFrom, k.Settings.Agent.Setup)
	}
	_, err = s.Sim.Comment("lovelace/shop", n, "lovelace", "/sia resume")
	check(t, err)
	s.Settle()
	if k = taskNow(t, s, id); k.State != sia.Passed || k.Repo.Owner != "lovelace" || len(k.Settings.Agent.Setup) > 0 {
		t.Errorf("%s in %s: %+v; setup %v", k.State, k.Repo, k.Pause, k.Settings.Agent.Setup)
	}
}

// TestInstalledAgain: the app is uninstalled and installed again, by which the installation has another id. Commands are
// answered, and what happened meanwhile is shown.
func TestInstalledAgain(t *testing.T) {
	s, id, n := movedShop(t)
	check(t, s.Sim.Uninstall(s.Install))
	s.Settle()
	s.InstallOn("shop")
	s.Settle()
	if k := taskNow(t, s, id); k.Installation == s.Install || k.Gone {
		t.Errorf("installation %d as before, or gone: %t", k.Installation, k.Gone)
	}
	_, err := s.Sim.Comment(apptest.Repo, n, apptest.Owner, "/sia retry")
	check(t, err)
	s.Settle()
	if k := taskNow(t, s, id); k.State != sia.Passed {
		t.Errorf("%s: %+v", k.State, k.Pause)
	}
}

// TestTransferredRepository: the repository goes to another owner who has the app, too, and the old installation says
// last that it has it no more.
func TestTransferredRepository(t *testing.T) {
	s, id, n := movedShop(t)
	s.Sim.CreateUser("bob")
	check(t, s.Sim.TransferRepo(apptest.Repo, "bob"))
	_, err := s.Sim.Install(s.AppID(), "bob", "shop")
	check(t, err)
	check(t, s.Sim.RemoveFromInstallation(s.Install, "bob/shop"))
	s.Settle()
	known, err := s.App.Store.Repositories(t.Context(), 0)
	check(t, err)
	if k := taskNow(t, s, id); k.Repo.String() != "bob/shop" || len(known) != 1 {
		t.Errorf("%s, known are %v", k.Repo, known)
	}
	_, err = s.Sim.Comment("bob/shop", n, "bob", "/sia retry")
	check(t, err)
	s.Settle()
	if k := taskNow(t, s, id); k.State != sia.Passed {
		t.Errorf("%s: %+v", k.State, k.Pause)
	}
}

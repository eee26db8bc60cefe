package app_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// taskOf returns the task of an issue, even if its repository was renamed.
func taskOf(t *testing.T, s *apptest.Stage, repo int64, issue int) sia.Task {
	t.Helper()
	task, err := s.App.Store.Task(t.Context(), sia.NewTaskID(repo, issue))
	check(t, err)
	return task
}

// commentsOn returns SIA's comments on an issue.
func commentsOn(t *testing.T, s *apptest.Stage, repo string, issue int) (all []string) {
	t.Helper()
	on, err := s.Sim.Issue(repo, issue)
	check(t, err)
	for _, c := range on.Comments {
		if c.Author == apptest.Bot {
			all = append(all, c.Body)
		}
	}
	return all
}

// stranger creates a public repository with the former name of the shop, and its own settings and issue. Any
// installation's token can read it.
func stranger(t *testing.T, s *apptest.Stage, owner string, labels ...string) {
	t.Helper()
	s.Sim.CreateUser(owner)
	_, err := s.Sim.CreateRepo(owner, "stolen", ghsim.RepoSpec{Public: true, Files: map[string]string{
		"evil.txt":        "the stranger's code",
		".sia/config.yml": "agent:\n  setup: [\"echo stranger\"]\nchecks:\n  settle: 10s\n",
	}})
	check(t, err)
	check(t, s.Sim.RenameRepo(owner+"/stolen", "shop"))
	_, err = s.Sim.OpenIssue("ada/shop", owner, "Greet the customers", "Put a greeting into `hello.txt`.", labels...)
	check(t, err)
}

// After an owner was renamed, a stranger takes the repository's former name. A resumed task continues in the repository
// with its id, with that one's code and settings.
func TestFormerNameTakenByAStranger(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	id := repoID(t, s)
	s.Hold(apptest.Point{When: "before", Kind: sia.DoAttempt, Attempt: 1})
	n := openLabelled(t, s, apptest.Owner)
	s.Until()
	_, err := s.Sim.Comment(apptest.Repo, n, "ada", "/sia stop")
	check(t, err)
	s.Go()
	s.Settle()
	check(t, s.Sim.RenameUser("ada", "lovelace"))
	stranger(t, s, "ada", "sia")
	_, err = s.Sim.Comment("lovelace/shop", n, "lovelace", "/sia retry")
	check(t, err)
	s.Settle()
	task := taskOf(t, s, id, n)
	if task.State != sia.Passed || task.Repo.String() != "lovelace/shop" {
		t.Errorf("the task is %s in %s: %s", task.State, task.Repo, task.Ended)
	}
	if strings.Contains(task.SettingsFrom, "ada/shop") || len(task.Settings.Agent.Setup) > 0 {
		t.Errorf("settings are from %s: %v", task.SettingsFrom, task.Settings.Agent.Setup)
	}
	branches, err := s.Sim.Branches("lovelace/shop")
	check(t, err)
	if branches[task.Branch] == "" {
		t.Errorf("nothing was pushed: %v", branches)
	}
	if theirs, err := s.Sim.Branches("ada/shop"); err != nil || len(theirs) != 1 {
		t.Errorf("the stranger's branches: %v, %v", theirs, err)
	}
}

// A repository's name is taken by another one while one of its tasks is running, without a delivery. Comments on the
// other's issue of the same number are not confused with the task's.
func TestFormerNameTakenWhileATaskRuns(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass-after-sia")
	id := repoID(t, s)
	s.Hold(apptest.Point{When: "before", Kind: sia.DoBegin, Attempt: 2})
	n := openLabelled(t, s, apptest.Owner)
	s.Until()
	check(t, s.Sim.RenameRepo(apptest.Repo, "store"))
	stranger(t, s, "ada")
	s.Go()
	s.Settle()
	if task := taskOf(t, s, id, n); task.State != sia.Passed || task.Repo.Name != "store" {
		t.Errorf("the task is %s in %s: %s", task.State, task.Repo, task.Ended)
	}
}

// If a repository's default branch is renamed during an attempt, so that the pull request can't be opened against it,
// it is opened against the renamed branch.
func TestDefaultBranchRenamed(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	s.Hold(apptest.Point{When: "before", Kind: sia.DoAttempt, Attempt: 1})
	n := openLabelled(t, s, apptest.Owner)
	s.Until()
	branches, err := s.Sim.Branches(apptest.Repo)
	check(t, err)
	check(t, s.Sim.ForcePush(apptest.Repo, "trunk", apptest.Owner, branches["main"]))
	check(t, s.Sim.SetDefaultBranch(apptest.Repo, "trunk"))
	check(t, s.Sim.ForcePush(apptest.Repo, "main", apptest.Owner, ""))
	s.Go()
	s.Settle()
	if task := s.Task(n); task.State != sia.Passed || task.BaseBranch != "trunk" {
		t.Errorf("the task is %s, on %s: %+v", task.State, task.BaseBranch, task.Pause)
	}
}

// An app that is uninstalled and installed again gets another installation id. Its previous tasks can still be
// commanded.
func TestInstalledAgain(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	id := repoID(t, s)
	n := resolve(t, s, "Greet the customers")
	check(t, s.Sim.Uninstall(s.Install))
	s.Settle()
	s.InstallOn("shop")
	s.Settle()
	before := len(commentsOn(t, s, apptest.Repo, n))
	_, err := s.Sim.Comment(apptest.Repo, n, "ada", "/sia status")
	check(t, err)
	s.Settle()
	if now := len(commentsOn(t, s, apptest.Repo, n)); now != before+1 {
		t.Errorf("%d comments before /sia status and %d after it", before, now)
	}
	_, err = s.Sim.MergePull(apptest.Repo, taskOf(t, s, id, n).Pull.Number, "ada")
	check(t, err)
	s.Settle()
	if first := commentsOn(t, s, apptest.Repo, n)[0]; !strings.Contains(first, "merged") {
		t.Errorf("the status after the merge: %s", first)
	}
}

// A task that was running when the app was uninstalled can be resumed after it is installed again.
func TestTakenUpAfterAReinstall(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	id := repoID(t, s)
	s.Hold(apptest.Point{When: "before", Kind: sia.DoBegin, Attempt: 1})
	n := openLabelled(t, s, apptest.Owner)
	s.Until()
	check(t, s.Sim.Uninstall(s.Install))
	s.Go()
	s.Settle()
	s.InstallOn("shop")
	s.Settle()
	if task := taskOf(t, s, id, n); task.State != sia.Stopped || task.Gone || task.Installation == s.Install {
		t.Errorf("the task is %s, gone %v, in installation %d", task.State, task.Gone, task.Installation)
	}
	_, err := s.Sim.Comment(apptest.Repo, n, "ada", "/sia retry")
	check(t, err)
	s.Settle()
	if task := taskOf(t, s, id, n); task.State != sia.Passed {
		t.Errorf("the task is %s: %s", task.State, task.Ended)
	}
}

// A repository is transferred to another account with the app. Its task continues there, for every selection and order
// of deliveries.
func TestTransferred(t *testing.T) {
	t.Parallel()
	for _, told := range []string{"added", "added, then removed", "removed, then added"} {
		t.Run(told, func(t *testing.T) {
			t.Parallel()
			s := shop(t, "pass")
			id := repoID(t, s)
			s.Sim.CreateUser("bob")
			_, err := s.Sim.CreateRepo("bob", "bakery", ghsim.RepoSpec{Files: map[string]string{"README.md": "x"}})
			check(t, err)
			s.Hold(apptest.Point{When: "before", Kind: sia.DoAttempt, Attempt: 1})
			n := openLabelled(t, s, apptest.Owner)
			s.Until()
			if told == "removed, then added" {
				check(t, s.Sim.RemoveFromInstallation(s.Install, apptest.Repo))
			}
			check(t, s.Sim.Transfer(apptest.Repo, "bob"))
			_, err = s.Sim.Install(s.AppID(), "bob", "shop")
			check(t, err)
			if told == "added, then removed" {
				check(t, s.Sim.RemoveFromInstallation(s.Install, "bob/shop"))
			}
			s.Go()
			s.Settle()
			// The first delivery decides: the attempt continues, it was stopped, or its push was refused.
			words := map[sia.State]string{sia.Stopped: "/sia start", sia.OnHold: "/sia resume"}
			if command := words[taskOf(t, s, id, n).State]; command != "" {
				_, err = s.Sim.Comment("bob/shop", n, "bob", command)
				check(t, err)
				s.Settle()
			}
			if task := taskOf(t, s, id, n); task.State != sia.Passed || task.Repo.Owner != "bob" {
				t.Errorf("the task is %s in %s of installation %d: %s", task.State, task.Repo, task.Installation,
					task.Ended)
			}
			all, err := s.App.Store.Repositories(t.Context(), 0)
			check(t, err)
			if !slices.ContainsFunc(all, func(r store.Repository) bool { return r.ID == id && r.Owner == "bob" }) {
				t.Errorf("known are %v", all)
			}
		})
	}
}

// A repository is transferred out of an installation that is paused: its task goes on.
func TestTransferredWhilePaused(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	id := repoID(t, s)
	s.Sim.CreateUser("bob")
	_, err := s.App.Store.Halt(t.Context(), store.Halt{Scope: sia.InstallationHalt(s.Install), Reason: "all is paused",
		At: s.Clock.Now()})
	check(t, err)
	n := openLabelled(t, s, apptest.Owner)
	s.Settle()
	check(t, s.Sim.Transfer(apptest.Repo, "bob"))
	_, err = s.Sim.Install(s.AppID(), "bob", "shop")
	check(t, err)
	s.Settle()
	if task := taskOf(t, s, id, n); task.State != sia.OnHold || task.Installation == s.Install {
		t.Errorf("the task is %s, in installation %d", task.State, task.Installation)
	}
	s.Periodic("heartbeat")
	s.Settle()
	if task := taskOf(t, s, id, n); task.State != sia.Passed {
		t.Errorf("the task is %s: %+v", task.State, task.Pause)
	}
}

// Deleted repositories are not requested again: neither for open tasks nor for passed or stopped ones.
func TestGone(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *apptest.Stage) error{
		"uninstalled": func(s *apptest.Stage) error { return s.Sim.Uninstall(s.Install) },
		"taken out":   func(s *apptest.Stage) error { return s.Sim.RemoveFromInstallation(s.Install, apptest.Repo) },
		"deleted":     func(s *apptest.Stage) error { return s.Sim.DeleteRepo(apptest.Repo) },
		"deleted, and its name taken": func(s *apptest.Stage) error {
			err := s.Sim.DeleteRepo(apptest.Repo)
			if err == nil {
				_, err = s.Sim.CreateRepo(apptest.Owner, apptest.Name, ghsim.RepoSpec{})
			}
			if err == nil {
				s.InstallOn(apptest.Name)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shop(t, "pass")
			id := repoID(t, s)
			passed, stopped := resolve(t, s, "Greet the customers"), open(t, s, "Greet them again")
			_, err := s.Sim.Comment(apptest.Repo, stopped, apptest.Owner, "/sia stop")
			check(t, err)
			s.Settle()
			s.Hold(apptest.Point{When: "before", Kind: sia.DoBegin, Attempt: 1})
			started := open(t, s, "Greet nobody")
			s.Until()
			check(t, end(s))
			s.Go()
			s.Settle()
			s.Periodic("heartbeat")
			s.Settle()
			for _, n := range []int{passed, stopped, started} {
				if task := taskOf(t, s, id, n); !task.Gone {
					t.Errorf("#%d is %s, and not gone", n, task.State)
				}
			}
			if _, err := s.App.Store.Repository(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("the repository is known: %v", err)
			}
			s.Wait(25 * time.Hour)
			before := len(s.Sim.Calls())
			for _, work := range []string{"look", "watch", "repair", "feedback", "approvals"} {
				s.Periodic(work)
			}
			s.Settle()
			for _, c := range s.Sim.Calls()[before:] {
				t.Errorf("%s %s is asked for: %d", c.Method, c.Path, c.Status)
			}
		})
	}
}

// An account or a repository is renamed, or a repository changes its visibility, without a delivery.
func TestComparedWithGitHub(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	id := repoID(t, s)
	n := resolve(t, s, "Greet the customers")
	check(t, s.Sim.RenameRepo(apptest.Repo, "store"))
	check(t, s.Sim.RenameUser(apptest.Owner, "lovelace"))
	before, err := s.App.Store.Repository(t.Context(), id)
	check(t, err)
	check(t, s.Sim.SetPrivate("lovelace/store", !before.Private))
	s.Periodic("heartbeat")
	s.Settle()
	now, err := s.App.Store.Repository(t.Context(), id)
	check(t, err)
	want := before
	want.Owner, want.Name, want.Private = "lovelace", "store", !before.Private
	if now != want {
		t.Errorf("the repository is %+v, want %+v", now, want)
	}
	if all, err := s.App.Store.Installations(t.Context()); err != nil || all[0].Account != "lovelace" {
		t.Errorf("installations: %v, %v", all, err)
	}
	if task := taskOf(t, s, id, n); task.Repo != want.Repo {
		t.Errorf("the task is in %s", task.Repo)
	}
}

// The deliveries of an installation, and of a repository that is added to another, are lost, and older than what GitHub
// sends again: the comparison with GitHub finds both, and the repositories are set up. They are not taken for new.
func TestComparisonAdopts(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	s.Sim.DropDeliveries(func(ghsim.Delivery) bool { return true })
	s.Sim.CreateUser("grace")
	_, err := s.Sim.CreateRepo("grace", "compiler", ghsim.RepoSpec{Files: map[string]string{"README.md": "Hello\n"}})
	check(t, err)
	second, err := s.Sim.Install(s.AppID(), "grace", "compiler")
	check(t, err)
	s.AddRepo("other")
	s.Sim.DropDeliveries(nil)
	before := len(s.Sim.Calls())
	s.Periodic("heartbeat")
	s.Settle()
	setups, err := s.App.Store.Setups(t.Context(), second)
	check(t, err)
	more, err := s.App.Store.Setups(t.Context(), s.Install)
	check(t, err)
	names := map[string]store.SetupState{}
	for _, v := range slices.Concat(setups, more) {
		names[v.String()] = v.State
	}
	if names["grace/compiler"] != store.SetupDone || names[apptest.Owner+"/other"] != store.SetupDone {
		t.Errorf("set up: %v", names)
	}
	lists := 0
	for _, c := range s.Sim.Calls()[before:] {
		if c.Method == http.MethodPost && strings.HasSuffix(c.Path, "/pulls") {
			t.Errorf("settings are proposed: %s", c.Path)
		}
		if strings.Contains(c.Path, "/installation/repositories?") || strings.Contains(c.Path, "/app/installations?") {
			lists++
		}
	}
	if lists != 3 { // the installations, and the repositories of each
		t.Errorf("%d lists", lists)
	}
}

// A delivery about the removal of a repository from the installation arrives after it was added again. Its data stays.
func TestLateRemoval(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	id := repoID(t, s)
	n := resolve(t, s, "Greet the customers")
	s.Sim.HoldDeliveries(func(d ghsim.Delivery) bool {
		return d.Event == "installation_repositories" && d.Action == "removed"
	})
	check(t, s.Sim.RemoveFromInstallation(s.Install, apptest.Repo))
	s.InstallOn("shop")
	s.Settle()
	s.Sim.Release(nil)
	s.Settle()
	if _, err := s.App.Store.Repository(t.Context(), id); err != nil {
		t.Error(err)
	}
	if task := taskOf(t, s, id, n); task.Gone {
		t.Error("the task is gone")
	}
}

// TestBaseRenamedBetweenAttempts: GitHub moves the pull requests of a renamed branch, and no event reports it. The next
// attempt starts from the branch that the pull request is to be merged into.
// https://github.com/orgs/community/discussions/200245
func TestBaseRenamedBetweenAttempts(t *testing.T) {
	t.Parallel()
	s := storyNamed(t, "pass-after-sia").Start(t)
	s.Hold(apptest.Point{When: "before", Kind: sia.DoBegin, Attempt: 2})
	if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Greet them.", "sia"); err != nil {
		t.Fatal(err)
	}
	s.Until()
	check(t, s.Sim.RenameBranch(apptest.Repo, "trunk"))
	s.Go()
	s.Settle()
	if task := s.Task(1); task.State != sia.Passed || task.BaseBranch != "trunk" {
		t.Errorf("the task is %s, for %s: %+v", task.State, task.BaseBranch, task.Pause)
	}
}

package app_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// The story's owner configures another label and two approaches; the defaults are the label sia and five.
const ownersStory, ownersLabel = "settings-of-owner", "resolve"

// labelled opens an issue with a label, waits until nothing is pending, and returns the task that was started, if any.
func labelled(t *testing.T, s *apptest.Stage, label string) (task sia.Task, started bool) {
	t.Helper()
	n, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Put a greeting into `hello.txt`.",
		label)
	check(t, err)
	s.Settle()
	task, err = s.App.Store.Task(context.Background(), sia.NewTaskID(repoID(t, s), n))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return task, err == nil
}

// failing makes GitHub respond to requests about the owner's repository with a fault, the given number of times, 0:
// forever, and counts the requests.
func failing(s *apptest.Stage, fault ghsim.Fault) *atomic.Int64 {
	asked := &atomic.Int64{}
	s.Sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if !strings.Contains(r.URL.Path, "/repos/"+apptest.OwnersRepo) {
			return nil
		}
		asked.Add(1)
		return &fault
	})
	return asked
}

// A repository's own file applies without being merged with the owner's; after it is removed, the owner's applies
// immediately.
func TestOwnSettingsComeFirst(t *testing.T) {
	t.Parallel()
	s := shop(t, ownersStory)
	push(t, s, "main", map[string]string{".sia/config.yml": "label: own\nchecks: {settle: 10s}\n"})
	if _, started := labelled(t, s, ownersLabel); started {
		t.Error("the owner's label counts beside the repository's own")
	}
	task, started := labelled(t, s, "own")
	if !started || task.Approaches != 5 || !strings.HasPrefix(task.SettingsFrom, apptest.Repo+"@") {
		t.Errorf("by its own label: started %v, %d approaches, settings from %q", started, task.Approaches, task.SettingsFrom)
	}
	push(t, s, "main", map[string]string{".sia/config.yml": ghsim.Deleted})
	task, started = labelled(t, s, ownersLabel)
	if !started || task.Approaches != 2 || !strings.HasPrefix(task.SettingsFrom, apptest.OwnersRepo+"@") {
		t.Errorf("by the owner's label: started %v, %d approaches, settings from %q", started, task.Approaches,
			task.SettingsFrom)
	}
}

// A late delivery of the push of a file that has been replaced since changes nothing.
func TestLatePush(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	s.Sim.DropDeliveries(func(d ghsim.Delivery) bool { return d.Event == "push" })
	push(t, s, "main", map[string]string{".sia/config.yml": "label: early\nchecks: {settle: 10s}\n"})
	s.Sim.DropDeliveries(nil)
	push(t, s, "main", map[string]string{".sia/config.yml": "label: late\nchecks: {settle: 10s}\n"})
	s.Periodic("redeliver")
	s.Settle()
	if _, started := labelled(t, s, "early"); started {
		t.Error("the label of the replaced file starts a task")
	}
	if _, started := labelled(t, s, "late"); !started {
		t.Error("the label of the file that is there starts nothing")
	}
}

// Policies beyond the limit per repository are ignored, and the check on their commit reports that.
func TestTooManyPolicies(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	files := map[string]string{}
	for i := range 51 {
		files[fmt.Sprintf(".sia/policies/%02d.yml", i)] = "decision: dance\n"
	}
	push(t, s, "main", files)
	repo, err := s.Sim.Repo(apptest.Repo)
	check(t, err)
	runs, err := s.Sim.CheckRuns(apptest.Repo, repo.Head)
	check(t, err)
	i := slices.IndexFunc(runs, func(r ghsim.CheckView) bool { return r.Name == "SIA policies" })
	if i < 0 || !strings.Contains(runs[i].Summary, "a repository can have 50 policies") {
		t.Errorf("check runs %+v", runs)
	}
}

// A task with another base branch uses the settings there, and the repository uses those of its default branch.
func TestSettingsOfAnotherBranch(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass-after-sia")
	push(t, s, "release", map[string]string{".sia/config.yml": "label: other\nsia: {max_approaches: 3}\n"})
	s.Hold(apptest.Point{When: "before", Kind: sia.DoBegin, Attempt: 2})
	n, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Put a greeting into `hello.txt`.",
		"sia")
	check(t, err)
	s.Until()
	check(t, s.Sim.Retarget(apptest.Repo, s.Task(n).Pull.Number, apptest.Owner, "release"))
	s.Quiet()
	s.Go()
	s.Settle()
	if task := s.Task(n); task.Settings.Label != "other" || !strings.HasPrefix(task.SettingsFrom, apptest.Repo+"@") {
		t.Errorf("it works by the label %q, with settings from %q", task.Settings.Label, task.SettingsFrom)
	}
	if _, started := labelled(t, s, "other"); started {
		t.Error("the label of the other branch starts a task")
	}
	if _, started := labelled(t, s, "sia"); !started {
		t.Error("the label of the default branch starts nothing")
	}
}

// GitHub's labels are case-insensitive: a repository that has "sia" gets no "SIA".
func TestLabelInAnotherCase(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Config{})
	s.Settle()
	push(t, s, "main", map[string]string{".sia/config.yml": "label: SIA\n"})
	if _, started := labelled(t, s, "sia"); !started {
		t.Error("the label that the settings name starts nothing")
	}
}

// A label that a repository's file named before the app was installed there starts a task, and removing it stops the
// task.
func TestLabelFromBeforeTheInstallation(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Config{Files: map[string]string{".sia/config.yml": "label: own\n"}})
	s.Hold(apptest.Point{When: "before", Kind: sia.DoAttempt, Attempt: 1})
	n, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet", "", "own")
	check(t, err)
	s.Until()
	check(t, s.Sim.Unlabel(apptest.Repo, n, apptest.Owner, "own"))
	s.Go()
	s.Settle()
	if task := s.Task(n); task.Settings.Label != "own" || task.State != sia.Stopped {
		t.Errorf("label %q, %s", task.Settings.Label, task.State)
	}
}

// While GitHub fails, the owner's settings are neither dropped nor guessed: what needs them is retried.
func TestOwnersSettingsOutliveAnOutage(t *testing.T) {
	t.Parallel()
	s := shop(t, ownersStory)
	asked := failing(s, ghsim.Fault{Status: http.StatusBadGateway, Times: 8})
	task, started := labelled(t, s, ownersLabel)
	if !started || task.State != sia.Passed || task.Approaches != 2 || task.Warning != "" {
		t.Errorf("started %v, %s, %d approaches, warning %q", started, task.State, task.Approaches, task.Warning)
	}
	if n := asked.Load(); n < 10 {
		t.Errorf("asked only %d times", n)
	}
}

// After a permanent failure the last good settings stay, and this is reported.
func TestOwnersSettingsRefused(t *testing.T) {
	t.Parallel()
	s := shop(t, ownersStory)
	failing(s, ghsim.Fault{Status: http.StatusForbidden,
		Body: `{"message":"Resource not accessible by integration","documentation_url":"https://docs.github.com/rest",` +
			`"status":"403"}`})
	task, started := labelled(t, s, ownersLabel)
	if !started || task.State != sia.Passed || task.Approaches != 2 {
		t.Errorf("started %v, %s, %d approaches", started, task.State, task.Approaches)
	}
	const refused = "so the last good ones hold: GitHub does not allow it: Resource not accessible by integration"
	const want = "The settings in `.sia/config.yml` of `ada/.github` can't be used, " + refused + "\n\n" +
		"The policies in `.sia/policies` of `ada/.github` can't be read, " + refused
	if task.Warning != want {
		t.Errorf("warning %q, want %q", task.Warning, want)
	}
}

// An owner's repository without the app any more has no effect, with or without a delivery.
func TestOwnersSettingsOutOfSight(t *testing.T) {
	t.Parallel()
	for name, told := range map[string]bool{"told": true, "not told": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shop(t, ownersStory)
			if !told {
				s.Sim.DropDeliveries(func(d ghsim.Delivery) bool { return d.Event == "installation_repositories" })
			}
			check(t, s.Sim.RemoveFromInstallation(s.Install, apptest.OwnersRepo))
			s.Settle()
			label := map[bool]string{true: "sia", false: ownersLabel}[told] // what SIA has to assume
			task, started := labelled(t, s, label)
			if !started || task.Approaches != 5 || task.SettingsFrom != "" || task.Warning != "" {
				t.Errorf("started %v, %d approaches, settings from %q, warning %q", started, task.Approaches, task.SettingsFrom,
					task.Warning)
			}
			if _, started := labelled(t, s, "sia"); !started {
				t.Error("the default label does not count afterwards")
			}
		})
	}
}

// An owner's repository that is added later applies from then on, even if GitHub fails to return it at first.
func TestOwnersSettingsComeLater(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	push(t, s, "main", map[string]string{".sia/config.yml": ghsim.Deleted})
	_, err := s.Sim.CreateRepo(apptest.Owner, apptest.OwnersName,
		ghsim.RepoSpec{Files: map[string]string{".sia/config.yml": "label: resolve\nchecks: {settle: 10s}\n"}})
	check(t, err)
	self, err := s.App.GitHub.Self(context.Background())
	check(t, err)
	failing(s, ghsim.Fault{Status: http.StatusInternalServerError, Times: 8})
	_, err = s.Sim.Install(self.ID, apptest.Owner, apptest.OwnersName)
	check(t, err)
	s.Settle()
	if _, started := labelled(t, s, "sia"); started {
		t.Error("the default label counts still")
	}
	if task, started := labelled(t, s, ownersLabel); !started || task.State != sia.Passed {
		t.Errorf("started %v, %s", started, task.State)
	}
}

// A file that was never valid, or is too large, is reported on its commit and changes nothing; tasks elsewhere refer to
// it.
func TestOwnersSettingsUnusable(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"unknown setting": "lable: resolve\n",
		"a little large":  strings.Repeat("# many words\n", 5000),
		"far too large":   strings.Repeat("# many words\n", 100000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apptest.Start(t, apptest.Config{
				Files: map[string]string{"README.md": "Shop\n"}, Owner: map[string]string{".sia/config.yml": text},
			})
			s.Hold(apptest.Point{When: "before", Kind: sia.DoAttempt, Attempt: 1})
			n, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet", "", "sia")
			check(t, err)
			s.Until()
			if task := s.Task(n); task.Approaches != 5 || !strings.Contains(task.Warning, "`ada/.github` can't be used") {
				t.Errorf("%d approaches, warning %q", task.Approaches, task.Warning)
			}
			owners, err := s.Sim.Repo(apptest.OwnersRepo)
			check(t, err)
			runs, err := s.Sim.CheckRuns(apptest.OwnersRepo, owners.Head)
			check(t, err)
			if len(runs) != 1 || runs[0].Name != "SIA config" || runs[0].Conclusion != "failure" {
				t.Errorf("check runs %+v", runs)
			}
			s.Go()
		})
	}
}

// The branch for memory that the owner's settings name is code in one of the repositories: SIA writes nothing there,
// and says so; the work goes on.
func TestOwnersMemoryBranch(t *testing.T) {
	t.Parallel()
	s := shop(t, ownersStory)
	push(t, s, "production", map[string]string{"shop.txt": "open\n", ".sia/tasks/1.md": "merged from sia/memory\n"})
	if _, err := s.Sim.PushFiles(apptest.OwnersRepo, "main", apptest.Owner, "Elsewhere",
		map[string]string{".sia/config.yml": "label: resolve\nmemory: {branch: production}\n"}); err != nil {
		t.Fatal(err)
	}
	s.Quiet()
	task, _ := labelled(t, s, ownersLabel)
	if task.State != sia.Passed || !strings.Contains(task.Warning, "Memory is neither read from `production` nor") {
		t.Errorf("it is %s: %+v, warning %q", task.State, task.Pause, task.Warning)
	}
	push(t, s, "production", map[string]string{"shop.txt": "closed\n"}) // read like an edit of memory
	s.Quiet()
	if text, err := s.Sim.File(apptest.Repo, "production", lesson.Path); err == nil {
		t.Error("SIA wrote to production: ", text)
	}
}

// The branch for memory that the owner's settings name is the default branch of one of the repositories: a push there
// changes its settings as usual.
func TestOwnersMemoryBranchIsTheDefault(t *testing.T) {
	t.Parallel()
	s := shop(t, ownersStory)
	check(t, s.Sim.RenameBranch(apptest.Repo, "goods"))
	s.Settle()
	if _, err := s.Sim.PushFiles(apptest.OwnersRepo, "main", apptest.Owner, "Elsewhere",
		map[string]string{".sia/config.yml": "label: resolve\nmemory: {branch: goods}\n"}); err != nil {
		t.Fatal(err)
	}
	s.Quiet()
	push(t, s, "goods", map[string]string{".sia/config.yml": "label: own\nchecks: {settle: 10s}\n"})
	if _, started := labelled(t, s, "own"); !started {
		t.Error("the label of the file that was pushed starts nothing")
	}
}

// After the database is lost, the owner's settings still apply, even if only one repository is rebuilt.
func TestReindexKnowsTheOwnersSettings(t *testing.T) {
	t.Parallel()
	s := shop(t, ownersStory)
	if _, err := s.Sim.PushFiles(apptest.OwnersRepo, "main", apptest.Owner, "Elsewhere",
		map[string]string{".sia/config.yml": "memory: {branch: notes}\n"}); err != nil {
		t.Fatal(err)
	}
	s.Quiet()
	s.Lose()
	got := s.Reindex(apptest.Repo)
	if len(got) != 1 || got[0].Repo != apptest.Repo || got[0].Branch != "notes" {
		t.Errorf("rebuilt %+v", got)
	}
}

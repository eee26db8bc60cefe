package app_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/welcome"
	"github.com/sia-bot/sia/sia/config"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// goModule contains the top-level files of a small Go project.
func goModule() map[string]string {
	return map[string]string{"go.mod": "module shop\n\nrequire example.com/x v1.0.0\n", "shop.go": "package shop\n"}
}

// welcomes returns the pull requests of a repository that propose settings, open or not.
func welcomes(t *testing.T, s *apptest.Stage, repo string) (pulls []ghsim.PullView) {
	t.Helper()
	all, err := s.Sim.Issues(repo)
	check(t, err)
	for _, i := range all {
		if p, err := s.Sim.Pull(repo, i.Number); err == nil && p.HeadRef == welcome.Branch {
			pulls = append(pulls, p)
		}
	}
	return pulls
}

// came returns the stored result of a repository's welcome.
func came(t *testing.T, s *apptest.Stage, name string) string {
	t.Helper()
	all, err := s.App.Store.Setups(context.Background(), 0)
	check(t, err)
	for _, v := range all {
		if v.Name == name {
			return fmt.Sprintf("%s: %s", v.State, v.Welcome)
		}
	}
	return "not planned"
}

// A new repository gets one pull request, ever: nothing creates another, whether it is closed, its branch deleted, the
// server restarted, the app installed again, or the database lost.
func TestWelcomeOnce(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Config{Files: map[string]string{"README": "nothing to tell"}, Welcome: true})
	const name, repo = "tea", apptest.Owner + "/tea"
	_, err := s.Sim.CreateRepo(apptest.Owner, name, ghsim.RepoSpec{Files: goModule(), DefaultBranch: "trunk"})
	check(t, err)
	check(t, s.Sim.SetRuleset(repo, "trunk", "test", "1"))
	s.InstallOn(name)
	s.Settle()
	pulls := welcomes(t, s, repo)
	if len(pulls) != 1 || pulls[0].BaseRef != "trunk" || pulls[0].Author != apptest.Bot ||
		!slices.Equal(pulls[0].Files, []string{config.Path}) {
		t.Fatalf("%s: %+v", came(t, s, name), pulls)
	}
	if got, want := came(t, s, name), fmt.Sprintf("done: pull request %d proposes it", pulls[0].Number); got != want {
		t.Errorf("kept %q, want %q", got, want)
	}
	file, err := s.Sim.File(repo, welcome.Branch, config.Path)
	check(t, err)
	set, err := config.Parse(config.Path, []byte(file))
	check(t, err)
	// This server lets setup fetch from nowhere, so that line is a comment.
	if d := cmp.Diff([]string{"1", "test"}, set.Checks.Required); d != "" || set.Agent.Test != "go test ./..." ||
		set.Agent.Setup != nil || !strings.Contains(file, `#   - "go mod download"`) {
		t.Errorf("%s\n%s", d, file)
	}
	check(t, s.Sim.ClosePull(repo, pulls[0].Number, apptest.Owner))
	for _, then := range []struct {
		what string
		do   func()
	}{
		{"a restart", s.Restart},
		{"another installation", func() {
			check(t, s.Sim.RemoveFromInstallation(s.Install, repo))
			s.Quiet()
			s.InstallOn(name)
		}},
		{"a lost database", func() {
			s.Lose()
			s.Restart()
			check(t, s.Sim.RemoveFromInstallation(s.Install, repo))
			s.Quiet()
			s.InstallOn(name)
		}},
	} {
		then.do()
		s.Wait(time.Hour)
		if pulls := welcomes(t, s, repo); len(pulls) != 1 || pulls[0].State != "closed" || then.what != "a restart" &&
			came(t, s, name) != fmt.Sprintf("done: pull request %d proposed it", pulls[0].Number) {
			t.Errorf("after %s: %+v", then.what, pulls)
		}
	}
}

// When checks had time to begin, those that the pull request started are counted; not before, also if the answer to its
// creation was lost.
func TestWelcomeCountsChecks(t *testing.T) {
	t.Parallel()
	const workflow = "on: pull_request\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: \"true\"\n"
	const ci = ".github/workflows/ci.yml"
	for name, c := range map[string]struct {
		file string
		lost int // answers
		want int
	}{"no workflow": {"README", 0, 0}, "workflow": {ci, 0, 1}, "lost answer": {ci, 1, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apptest.Start(t, apptest.Config{Files: map[string]string{"README": "nothing to tell"}, Welcome: true})
			files := goModule()
			files[c.file] = workflow
			_, err := s.Sim.CreateRepo(apptest.Owner, "tea", ghsim.RepoSpec{Files: files})
			check(t, err)
			loses := &ghsim.Fault{Times: c.lost, After: true}
			s.Sim.FailRequests(func(r *http.Request) *ghsim.Fault {
				if c.lost > 0 && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pulls") {
					return loses
				}
				return nil
			})
			s.InstallOn("tea")
			s.Wait(2 * time.Minute)
			counted := func() *int {
				all, err := s.App.Store.Setups(context.Background(), 0)
				check(t, err)
				i := slices.IndexFunc(all, func(v store.Setup) bool { return v.Name == "tea" })
				return all[i].Checks
			}
			if got := counted(); got != nil {
				t.Errorf("counted %d at once", *got)
			}
			s.Wait(time.Hour)
			if got := counted(); got == nil || *got != c.want || len(welcomes(t, s, apptest.Owner+"/tea")) != 1 {
				t.Errorf("counted %v; %s", got, came(t, s, "tea"))
			}
		})
	}
}

// Unsuitable repositories are skipped, with the reason.
func TestWelcomeLeftAlone(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		stage   apptest.Config
		files   map[string]string
		prepare func(s *apptest.Stage, repo string) error
	}{
		"done: it has settings of its own": {
			files: map[string]string{"go.mod": "module x\n", config.Path: "label: help\n"}},
		"done: nothing was found that settings would have to say": {files: map[string]string{"README": "words"}},
		"done: the repository is empty":                           {},
		"done: the owner's settings say so (welcome: false)": {files: goModule(),
			stage: apptest.Config{Owner: map[string]string{config.Path: "welcome: false\n"}}},
		"archived: the repository is archived": {files: goModule(),
			prepare: func(s *apptest.Stage, repo string) error { return s.Sim.Archive(repo) }},
		"done: there is a branch sia/welcome that is somebody else's": {files: goModule(),
			prepare: func(s *apptest.Stage, repo string) error {
				_, err := s.Sim.PushFiles(repo, welcome.Branch, apptest.Owner, "mine", map[string]string{config.Path: "label: x\n"})
				return err
			}},
		"done: it could not be done: ": {files: goModule(),
			prepare: func(s *apptest.Stage, repo string) error {
				s.Sim.FailRequests(func(r *http.Request) *ghsim.Fault {
					if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/repos/"+repo+"/pulls") {
						return &ghsim.Fault{Status: http.StatusForbidden, Body: `{"message":"Resource not accessible by integration",` +
							`"documentation_url":"https://docs.github.com/rest"}`}
					}
					return nil
				})
				return nil
			}},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			c.stage.Welcome = true
			s := apptest.Start(t, c.stage)
			repo := apptest.Owner + "/tea"
			_, err := s.Sim.CreateRepo(apptest.Owner, "tea", ghsim.RepoSpec{Files: c.files})
			check(t, err)
			if c.prepare != nil {
				check(t, c.prepare(s, repo))
			}
			s.InstallOn("tea")
			s.Settle()
			if got := came(t, s, "tea"); !strings.HasPrefix(got, want) {
				t.Errorf("kept %q", got)
			}
			if pulls := welcomes(t, s, repo); len(pulls) > 0 {
				t.Errorf("opened %+v", pulls)
			}
		})
	}
}

// Ten repositories that are added together get a pull request each, except the owner's with shared settings; eleven get
// none, but for the one for which an administrator requests it.
func TestWelcomeOfMany(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Config{Welcome: true})
	few, many := []string{apptest.OwnersName}, []string{}
	for i := range store.MaxTogether - 1 {
		few = append(few, fmt.Sprintf("a%d", i))
	}
	for i := range store.MaxTogether + 1 {
		many = append(many, fmt.Sprintf("b%d", i))
	}
	for _, name := range slices.Concat(few, many) {
		_, err := s.Sim.CreateRepo(apptest.Owner, name, ghsim.RepoSpec{Files: goModule()})
		check(t, err)
	}
	s.InstallOn(few...)
	s.Wait(time.Hour)
	s.InstallOn(many...)
	s.Wait(time.Hour)
	for _, name := range slices.Concat(few, many) {
		want := 1
		if name == apptest.OwnersName || slices.Contains(many, name) {
			want = 0
		}
		if got := len(welcomes(t, s, apptest.Owner+"/"+name)); got != want {
			t.Errorf("%s: %d pull requests, want %d: %s", name, got, want, came(t, s, name))
		}
	}
	got := came(t, s, "b3")
	if got != "done: 11 repositories were added at once, and only up to 10 get a pull request each" {
		t.Errorf("kept %q", got)
	}
	all, err := s.App.Store.Setups(t.Context(), 0)
	check(t, err)
	of := func(name string) store.Setup {
		return all[slices.IndexFunc(all, func(v store.Setup) bool { return v.Name == name })]
	}
	for range 2 { // the second time, nothing is left to do
		answer := onInstallation(s, http.MethodPost, fmt.Sprintf("do=propose&repo=%d", of("b3").ID))
		if answer.Code != http.StatusSeeOther {
			t.Errorf("propose settings: %d %s", answer.Code, answer.Body)
		}
		s.Wait(time.Hour)
		got = came(t, s, "b3")
		if pulls := welcomes(t, s, apptest.Owner+"/b3"); len(pulls) != 1 ||
			got != fmt.Sprintf("done: pull request %d proposes it", pulls[0].Number) {
			t.Errorf("asked for, %d pull requests: %s", len(pulls), got)
		}
	}
	if got := came(t, s, "b4"); !strings.Contains(got, "added at once") {
		t.Errorf("of one that nobody asked for: %s", got)
	}
	acts, err := s.App.Store.Acts(t.Context(), store.ActFilter{Repo: of("b3").ID})
	check(t, err)
	if !slices.ContainsFunc(acts, func(a store.Act) bool {
		return a.What == "propose settings" && a.Who == store.Operator
	}) {
		t.Errorf("the audit log lacks it: %+v", acts)
	}
}

// For every failure of GitHub in between, there is one pull request in the end.
func TestWelcomeAfterTrouble(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Config{Welcome: true})
	const repo = apptest.Owner + "/tea"
	_, err := s.Sim.CreateRepo(apptest.Owner, "tea", ghsim.RepoSpec{Files: goModule()})
	check(t, err)
	s.Sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pulls") {
			return &ghsim.Fault{Status: http.StatusBadGateway}
		}
		return nil
	})
	s.InstallOn("tea")
	branches, err := s.Sim.Branches(repo)
	check(t, err)
	if branches[welcome.Branch] == "" || len(welcomes(t, s, repo)) != 0 || strings.HasPrefix(came(t, s, "tea"), "done") {
		t.Fatalf("it was not cut short between push and pull request: %v, %s", branches, came(t, s, "tea"))
	}
	s.Sim.ClearFaults()
	s.Restart()
	s.Wait(time.Hour)
	if pulls := welcomes(t, s, repo); len(pulls) != 1 || len(pulls[0].Commits) != 1 {
		t.Errorf("%s: %+v", came(t, s, "tea"), pulls)
	}
}

// A server with this option disabled proposes nothing.
func TestWelcomeOff(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Config{Files: goModule()})
	s.Settle()
	if got := came(t, s, apptest.Name); got != "done: " ||
		len(welcomes(t, s, apptest.Repo)) > 0 {
		t.Errorf("kept %q", got)
	}
}

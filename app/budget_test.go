package app_test

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
)

// shopWithBudget returns a shop with a daily budget for two tasks, and another repository of the owner's in which two
// were done.
func shopWithBudget(t *testing.T, setting string) (s *apptest.Stage, done func() (issue int)) {
	t.Helper()
	s = shop(t, "pass")
	push(t, s, "main", map[string]string{".sia/config.yml": "budget: {" + setting + ": 1}\nchecks: {settle: 10s}\n"})
	in := func(repo string) int {
		n, err := s.Sim.OpenIssue(repo, apptest.Owner, "Greet the customers", "Put a greeting into `hello.txt`.", "sia")
		check(t, err)
		s.Settle()
		return n
	}
	other := s.AddRepo("other")
	for range 2 {
		in(other)
	}
	return s, func() int { return in(apptest.Repo) }
}

// If all repositories of an installation together have used the daily budget, the next attempt does not begin, and its
// issue shows the reason.
func TestInstallationBudget(t *testing.T) {
	t.Parallel()
	s, done := shopWithBudget(t, "installation_per_day")
	n := done()
	if task := s.Task(n); task.State != sia.OnHold || len(task.Attempts) > 0 ||
		!strings.Contains(said(t, s, n), "of the 1 credits of 24 hours (`budget.installation_per_day`)") {
		t.Errorf("%s, %+v; SIA said:\n%s", task.State, task.Pause, said(t, s, n))
	}
}

// The same holds for one repository's budget, regardless of others.
func TestRepositoryBudget(t *testing.T) {
	t.Parallel()
	s, done := shopWithBudget(t, "repo_per_day")
	for range 2 {
		if task := s.Task(done()); task.State != sia.Passed {
			t.Fatalf("%s, %+v", task.State, task.Pause)
		}
	}
	n := done()
	if task := s.Task(n); task.State != sia.OnHold || len(task.Attempts) > 0 ||
		!strings.Contains(said(t, s, n), "of the 1 credits of 24 hours (`budget.repo_per_day`)") {
		t.Errorf("%s, %+v; SIA said:\n%s", task.State, task.Pause, said(t, s, n))
	}
}

// A server starts without prices only if models may be free.
func TestPrices(t *testing.T) {
	priced := llm.Price{Input: 1, Output: 2}
	model := func(p llm.Price) app.ModelConfig {
		return app.ModelConfig{URL: "http://127.0.0.1:1", Model: "m", Price: p}
	}
	backup := model(priced)
	backup.Backups = []app.ModelConfig{{Name: "spare", URL: "http://127.0.0.1:2", Model: "m"}}
	for _, c := range []struct {
		name   string
		config app.Config
		want   string // expected in the error; empty: no error
	}{
		{"priced", app.Config{Models: app.ModelsConfig{Coder: model(priced)}}, ""},
		{"not priced", app.Config{Models: app.ModelsConfig{Coder: model(llm.Price{})}},
			"the price of the model coder is not known"},
		{"half priced", app.Config{Models: app.ModelsConfig{Coder: model(llm.Price{Input: 1})}}, "set --price-input"},
		{"a backup without", app.Config{Models: app.ModelsConfig{Coder: backup}},
			"the price of the model spare is not known"},
		{"free", app.Config{Free: true, Models: app.ModelsConfig{Coder: model(llm.Price{})}}, ""},
	} {
		err := c.config.CheckPrices()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Memory is not written to an existing branch with other content; the previous settings stay in force, and the commit
// with the new ones gets a failed check.
func TestMemoryBranchOfItsOwn(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	push(t, s, "work", map[string]string{"notes.txt": "ours\n", ".sia/tasks/1.md": "merged from sia/memory\n"})
	push(t, s, "main", map[string]string{".sia/config.yml": "memory: {branch: work}\nchecks: {settle: 10s}\n"})
	s.Quiet()
	n := openLabelled(t, s, apptest.Owner)
	s.Settle()
	if b := s.Task(n).Settings.Memory.Branch; b != "sia/memory" {
		t.Errorf("memory is kept on %s", b)
	}
	heads, err := s.Sim.Branches(apptest.Repo)
	check(t, err)
	runs, err := s.Sim.CheckRuns(apptest.Repo, heads["main"])
	check(t, err)
	for _, r := range runs {
		if r.Name == "SIA config" && r.Conclusion == "failure" {
			return
		}
	}
	t.Errorf("nothing is said on the commit: %+v", runs)
}

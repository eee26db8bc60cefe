package oracle_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/oracle"
	"github.com/sia-bot/sia/sim/ghsim/runner"
)

// The commits of every world: the branch head is based on base, which may no longer be on main.
const (
	head    = "head"
	earlier = "earlier"
	base    = "base"
	merge   = "merge"
)

// ci is the workflow of most runs.
const ci = ".github/workflows/ci.yml"

// noon is when everything was made; asked is when the oracle is asked.
var (
	noon  = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	asked = noon.Add(time.Hour)
)

// world is a repository's state, made by hand: one pull request from sia/1 into main.
type world struct {
	t     *testing.T
	repo  *model.Repository
	pull  *model.Pull
	issue *model.Issue
	apps  map[string]*model.App
	files map[string]string // commit and path → text
	log   []string          // of main, newest first
	id    int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, apps: map[string]*model.App{}, files: map[string]string{}, log: []string{base}, id: 100}
	w.pull = &model.Pull{ID: 3, Head: "sia/1", Base: "main", HeadSHA: head, BaseSHA: base}
	w.issue = &model.Issue{ID: 2, Number: 2, State: "open", Pull: w.pull}
	w.repo = w.repository(1, "shop")
	w.repo.Issues = []*model.Issue{w.issue}
	w.repo.Refs = map[string]string{"refs/heads/main": base, "refs/heads/sia/1": head}
	w.repo.TestMerges[base+head] = merge
	return w
}

func (w *world) repository(id int64, name string) *model.Repository {
	return &model.Repository{ID: id, Owner: &model.User{Login: "acme"}, Name: name, DefaultBranch: "main",
		Refs: map[string]string{"refs/heads/main": base}, Protection: map[string][]string{}, Rules: map[string][]model.Rule{},
		TestMerges: map[string]string{}}
}

// File is a file that a test wrote for a commit.
func (w *world) File(_ *model.Repository, sha, path string) (string, bool) {
	text, found := w.files[sha+path]
	return text, found
}

// Log is main, whatever the argument.
func (w *world) Log(_ *model.Repository, _ string, n int) []string { return w.log[:min(n, len(w.log))] }

// Bot is the account of an app.
func (w *world) Bot(id int64) *model.User {
	for _, a := range w.apps {
		if a.ID == id {
			return a.Bot
		}
	}
	return nil
}

func (w *world) next() int64 {
	w.id++
	return w.id
}

// app is the app of a slug.
func (w *world) app(slug string) *model.App {
	if w.apps[slug] == nil {
		w.apps[slug] = &model.App{ID: w.next(), Slug: slug, Bot: &model.User{Login: slug + "[bot]", Kind: "Bot"}}
	}
	return w.apps[slug]
}

// run is a run of ci.yml for a commit with jobs such as "test success" and "lint", which is queued. It ends as its jobs
// do.
func (w *world) run(sha, event string, jobs ...string) *model.Run {
	run := &model.Run{ID: w.next(), Attempt: 1, Name: "ci", Path: ci, Event: runner.Event{Name: event}, SHA: sha,
		Checkout: sha, Status: "queued"}
	run.Suite = &model.Suite{ID: w.next(), App: w.app("github-actions"), SHA: sha, Made: noon}
	w.repo.Suites, w.repo.Runs = append(w.repo.Suites, run.Suite), append(w.repo.Runs, run)
	w.jobs(run, jobs...)
	return run
}

// again is the next attempt of a run, with some of its jobs; it includes the others.
func (w *world) again(run *model.Run, jobs ...string) *model.Run {
	run.Attempt++
	for _, j := range run.Jobs {
		made := func(job string) bool { return strings.HasPrefix(job, j.Plan.Name) }
		if slices.Contains(j.Attempts, run.Attempt-1) && !slices.ContainsFunc(jobs, made) {
			j.Attempts = append(j.Attempts, run.Attempt)
		}
	}
	w.jobs(run, jobs...)
	return run
}

func (w *world) jobs(run *model.Run, jobs ...string) {
	for _, job := range jobs {
		name, conclusion, _ := strings.Cut(job, " ")
		j := &model.Job{ID: w.next(), Run: run, Attempts: []int{run.Attempt}, Plan: runner.Job{Key: name, Name: name},
			Steps: []*runner.Step{{}}, Log: []byte("ran\n")}
		if conclusion == "unstarted" {
			conclusion, j.Steps, j.Log = "failure", nil, nil
		}
		j.Check = &model.CheckRun{ID: j.ID, Suite: run.Suite, Name: name, SHA: run.SHA, Job: j, Started: noon}
		complete(j.Check, conclusion)
		run.Jobs, w.repo.Checks = append(run.Jobs, j), append(w.repo.Checks, j.Check)
	}
	if len(jobs) == 0 {
		return
	}
	var checks []*model.CheckRun
	for _, j := range run.Latest() {
		checks = append(checks, j.Check)
	}
	run.Status, run.Conclusion = model.SuiteState(checks)
}

// ended is a run with its own conclusion, whatever its jobs'.
func ended(run *model.Run, conclusion string) *model.Run {
	run.Status, run.Conclusion = "completed", conclusion
	return run
}

// of gives a run another workflow file.
func of(run *model.Run, name, path string) *model.Run {
	run.Name, run.Path = name, path
	return run
}

func complete(k *model.CheckRun, conclusion string) {
	k.Status, k.Conclusion = "completed", conclusion
	if conclusion == "" {
		k.Status = "in_progress"
	}
}

// check is a check run made by an app through the API.
func (w *world) check(app, sha, name, conclusion string) {
	st := &model.Suite{ID: w.next(), App: w.app(app), SHA: sha, Made: noon}
	k := &model.CheckRun{ID: w.next(), Suite: st, Name: name, SHA: sha, Started: noon}
	complete(k, conclusion)
	w.repo.Suites, w.repo.Checks = append(w.repo.Suites, st), append(w.repo.Checks, k)
}

// status is a commit status.
func (w *world) status(sha, context, state string, by *model.User) {
	w.repo.Statuses = append(w.repo.Statuses,
		&model.Status{ID: w.next(), SHA: sha, Context: context, State: state, By: by, At: noon})
}

// merged is a pull request merged into main, with the checks of its last commit.
func (w *world) merged(sha string, jobs ...string) {
	n := w.repo.Issues[len(w.repo.Issues)-1].Number + 1
	w.repo.Issues = append(w.repo.Issues, &model.Issue{Number: n, State: "closed",
		Pull: &model.Pull{Base: "main", HeadSHA: sha, MergedAt: noon.Add(time.Duration(n) * time.Second)}})
	if len(jobs) > 0 {
		w.run(sha, "pull_request", jobs...)
	}
}

// require adds a rule to main.
func (w *world) require(rules ...model.Rule) {
	w.repo.Rules["main"] = append(w.repo.Rules["main"], rules...)
}

func workflowRule(path string, repository int64) model.Rule {
	return model.Rule{Type: model.RuleWorkflows, Parameters: map[string]any{"workflows": []any{
		map[string]any{"path": path, "repository_id": repository, "ref": "main"}}}}
}

func appRule(context string, app int64) model.Rule {
	return model.Rule{Type: model.RuleChecks, Parameters: map[string]any{"required_status_checks": []any{
		map[string]any{"context": context, "integration_id": app}}}}
}

// ask asks about the pull request; tell changes the question.
func (w *world) ask(tell ...func(*oracle.Question)) oracle.Answer {
	q := oracle.Question{Repo: "acme/shop", Pull: 2, Own: "sia", Base: base, Wait: 15 * time.Minute}
	for _, t := range tell {
		t(&q)
	}
	return oracle.Ask(w.repo, q, asked, w)
}

func needs(names ...string) func(*oracle.Question) {
	return func(q *oracle.Question) { q.Required = names }
}

func waives(names ...string) func(*oracle.Question) {
	return func(q *oracle.Question) { q.Waived = names }
}

func after(shas ...string) func(*oracle.Question) {
	return func(q *oracle.Question) { q.Earlier = shas }
}

// verdict is a line of a table: a state, and the expected verdict on the head.
type verdict struct {
	says  string // the tested rule
	state func(*world)
	tell  []func(*oracle.Question)
	green bool
	red   []string
	why   string // part of one of the reasons
}

func try(t *testing.T, verdicts []verdict) {
	t.Helper()
	for _, v := range verdicts {
		t.Run(v.says, func(t *testing.T) {
			w := newWorld(t)
			v.state(w)
			got := w.ask(v.tell...)
			if got.Green != v.green || !slices.Equal(got.Red, v.red) || got.Green != (len(got.Why) == 0) {
				t.Errorf("green %v, red %q, want %v, %q; because %q", got.Green, got.Red, v.green, v.red, got.Why)
			}
			if why := strings.Join(got.Why, "\n"); !strings.Contains(why, v.why) {
				t.Errorf("because %q, want words %q", why, v.why)
			}
			if got.Head != w.pull.HeadSHA {
				t.Errorf("head %s, want %s", got.Head, w.pull.HeadSHA)
			}
		})
	}
}

package app_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/ghsim"
)

// oneOf draws one of several values with equal probability.
func oneOf[T any](rng *rand.Rand, all ...T) T { return all[rng.IntN(len(all))] }

// draw creates the world: a repository with workflows, rules and history, and a task in it.
func (w *world) draw() {
	r := w.rng
	w.temper = temper{
		loss: oneOf(r, 0, 0, 0, 0.2, 0.5, 1), twice: oneOf(r, 0, 0, 0.3),
		late: oneOf(r, 0, 0, 20*time.Second, 10*time.Minute), bad: oneOf(r, 0.1, 0.3, 0.6),
		odd: oneOf(r, 0, 0.05, 0.25), moves: r.IntN(12), deaf: r.IntN(8) == 0,
		reporter: r.IntN(6) == 0,
	}
	if r.IntN(2) == 0 { // a calm one, in which tasks make progress
		w.temper.bad, w.temper.odd, w.temper.moves = oneOf(r, 0, 0, 0.2), oneOf(r, 0, 0.03), r.IntN(6)
	}
	files := map[string]string{"src/first.go": "package src\n", "README": "a world\n", calledPath: called}
	for n := range oneOf(r, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3) {
		files[workflowPath(n)] = w.workflow(r, n)
		w.jobs = append(w.jobs, jobsIn(files[workflowPath(n)])...)
	}
	w.set = sia.DefaultSettings()
	w.set.Checks.Wait = sia.Duration(5 * time.Minute)
	w.set.Review.Final = r.IntN(3) == 0
	w.set.SIA.MaxApproaches = 3
	w.set.Checks.Rerun = oneOf(r, sia.RerunAuto, sia.RerunAuto, sia.RerunAlways, sia.RerunNever)
	if r.IntN(8) == 0 { // in the repository too, since SIA reads them there after it has asked
		name := oneOf(r, "test", "ci/outside", "lint")
		w.set.Checks.Required = []string{name}
		files[".sia/config.yml"] = "checks:\n  required: [" + name + "]\n"
	}
	w.create(files)
	w.note("temper %+v, required %v", w.temper, w.set.Checks.Required)
	w.history()
	for range oneOf(r, 0, 0, 0, 1, 1, 2) {
		w.moveOf(r, "rule")
	}
	if r.IntN(8) == 0 {
		what, err := w.requireWorkflow(r, "main")
		w.must(err)
		w.note("%s", what)
	}
	w.addRules()
	w.open()
}

// create creates the world's repository.
func (w *world) create(files map[string]string) {
	w.repo = fmt.Sprintf("%s/w%d", owner, w.seed)
	repo, err := w.sim.CreateRepo(owner, strings.TrimPrefix(w.repo, owner+"/"), ghsim.RepoSpec{Files: files})
	w.must(err)
	w.repoID = repo.ID
	w.must(w.sim.SetPermission(w.repo, member, "write"))
	for path, text := range files {
		if strings.HasPrefix(path, ".github") {
			w.note("%s:\n%s", path, text)
		}
	}
	_, err = w.sim.Install(w.appID, owner, w.repo)
	w.must(err)
	w.take() // the first delivery of the repository adds it to the database
}

// open opens the issue, and starts the task.
func (w *world) open() {
	var err error
	w.issue, err = w.sim.OpenIssue(w.repo, member, "Do it", "as it says", "sia")
	w.must(err)
	w.take()
	w.id = sia.NewTaskID(w.repoID, w.issue)
	w.must(w.startTask())
}

// startTask starts the task.
func (w *world) startTask() error {
	_, err := w.parts.Store.Apply(w.ctx, w.id, sia.Event{ID: "start", At: w.clock.Now(),
		By: sia.Actor{Login: member, ID: 2}, Fact: sia.Start{Installation: w.install,
			Repo:  sia.Repo{ID: w.repoID, Owner: owner, Name: strings.TrimPrefix(w.repo, owner+"/")},
			Issue: w.issue, Title: "Do it", Body: "as it says", DefaultBranch: "main", Label: "sia"}})
	w.look()
	return err
}

// history runs the base branch's checks, and in some worlds merges earlier pull requests.
func (w *world) history() {
	if w.rng.IntN(3) > 0 {
		w.must(w.sim.RunWorkflows(w.repo, "main", owner))
		w.finishJobs()
	}
	for n := range oneOf(w.rng, 0, 0, 1, 2) {
		branch := fmt.Sprint("before", n)
		_, err := w.sim.PushFiles(w.repo, branch, member, "before",
			map[string]string{"src/" + branch + ".go": "package src\n"})
		w.must(err)
		number, err := w.sim.OpenPull(w.repo, member, branch, "main", "before", "", false)
		w.must(err)
		if w.rng.IntN(2) == 0 {
			w.must(w.sim.CreateStatus(w.repo, branch, owner, "ci/outside", "success", "fine"))
		}
		w.finishJobs()
		w.advance(time.Minute)
		_, err = w.sim.MergePull(w.repo, number, owner)
		w.must(err)
		w.finishJobs()
		w.count["merged before"]++
	}
	w.take()
}

// finishJobs ends all jobs at once as expected.
func (w *world) finishJobs() {
	red := w.rng.IntN(6) == 0
	for {
		jobs, err := w.sim.Jobs(w.repo)
		w.must(err)
		if len(jobs) == 0 {
			return
		}
		w.must(w.sim.BeginJob(w.repo, jobs[0].ID))
		conclusion := "success"
		if red && jobs[0].Name == "test" {
			conclusion = "failure"
			w.count["red base"]++
		}
		w.must(w.sim.EndJob(w.repo, jobs[0].ID, conclusion, failedLog))
	}
}

// Output of the worlds' jobs.
const (
	failedLog = "=== RUN   TestSum\n    sum_test.go:7: got 2, want 3\n--- FAIL: TestSum (0.00s)\nFAIL\n" +
		"##[error]Process completed with exit code 1.\n"
	weather = "fatal: unable to access 'https://github.com/': Could not resolve host: github.com\n" +
		"##[error]Process completed with exit code 128.\n"
	unpaid = "The job was not started because recent account payments have failed or your spending limit needs to be " +
		"increased. Please check the 'Billing & plans' section in your settings"
)

// jobKey matches a job of a generated workflow file.
var jobKey = regexp.MustCompile(`(?m)^  ([a-z]+):$`)

// jobsIn returns the keys of the jobs of a generated workflow file.
func jobsIn(text string) (keys []string) {
	_, jobs, _ := strings.Cut(text, "\njobs:\n")
	for _, m := range jobKey.FindAllStringSubmatch(jobs, -1) {
		keys = append(keys, m[1])
	}
	return keys
}

func workflowPath(n int) string { return fmt.Sprintf(".github/workflows/%c.yml", 'a'+n) }

// drawWorkflow returns a workflow file.
func drawWorkflow(r *rand.Rand, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\n", oneOf(r, "CI", "CI", fmt.Sprint("W", n)))
	b.WriteString(oneOf(r,
		"on: [push, pull_request]\n", "on: [push, pull_request]\n", "on: [push, pull_request]\n", "on: pull_request\n",
		"on: pull_request\n", "on: pull_request\n", "on: push\n", "on: push\n",
		"on:\n  push:\n    branches: [main]\n  pull_request:\n", "on:\n  push:\n    branches: [main]\n  pull_request:\n",
		"on:\n  pull_request:\n    types: [opened, synchronize, reopened, ready_for_review]\n",
		"on:\n  pull_request:\n    types: [opened, synchronize, reopened, ready_for_review]\n",
		"on:\n  pull_request:\n    paths: ['src/**']\n", "on:\n  pull_request:\n    paths: ['docs/**']\n",
		"on: pull_request_target\n", "on: [pull_request, merge_group]\n", "on: merge_group\n"))
	if r.IntN(4) == 0 {
		b.WriteString("concurrency:\n  group: ${{ github.workflow }}-${{ github.head_ref || github.ref }}\n" +
			"  cancel-in-progress: true\n")
	}
	b.WriteString("jobs:\n")
	first := oneOf(r, "test", "test", "test", "test", "build", "build", "title")
	job := func(key, needs, cond, matrix string) {
		fmt.Fprintf(&b, "  %s:\n", key)
		if needs != "" {
			fmt.Fprintf(&b, "    needs: %s\n", needs)
		}
		if cond != "" {
			fmt.Fprintf(&b, "    if: %s\n", cond)
		}
		b.WriteString("    runs-on: ubuntu-latest\n")
		if matrix != "" {
			fmt.Fprintf(&b, "    strategy:\n      matrix:\n        v: %s\n", matrix)
		}
		if key == "title" {
			b.WriteString("    steps:\n      - run: echo fine\n")
			return
		}
		b.WriteString("    steps:\n      - uses: actions/checkout@v4\n      - run: go test ./...\n")
	}
	job(first, "", oneOf(r, "", "", "", "", "", "", "", "github.event.pull_request.draft == false",
		"${{ !github.event.pull_request.draft }}"),
		oneOf(r, "", "", "", "[1, 2]"))
	if r.IntN(3) == 0 {
		job("lint", "", oneOf(r, "", "", "false"), "")
	}
	if r.IntN(3) == 0 {
		job("after", first, oneOf(r, "", "", "always()", "failure()", "github.event.pull_request.draft == false"),
			oneOf(r, "", "", "", "", "", "${{ fromJSON(needs."+first+".outputs.list || '[]') }}"))
	}
	return b.String()
}

package gate

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
)

// row is a commit and its verdict.
type row struct {
	name string
	in   Input
	want sia.GateVerdict
	says string // in the explanation
}

// judgeAll judges each row, with its lists in several orders.
func judgeAll(t *testing.T, rows []row) {
	t.Helper()
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			for range 3 {
				for _, rs := range [][]Run{c.in.Runs, c.in.Base} {
					rand.Shuffle(len(rs), func(i, j int) { rs[i], rs[j] = rs[j], rs[i] })
				}
				rand.Shuffle(len(c.in.Workflows), func(i, j int) {
					c.in.Workflows[i], c.in.Workflows[j] = c.in.Workflows[j], c.in.Workflows[i]
				})
				got := Judge(c.in)
				if got.Verdict != c.want || !strings.Contains(strings.Join(got.Explain, "\n"), c.says) {
					t.Fatalf("verdict %s, want %s; explained by\n%s", got.Verdict, c.want, strings.Join(got.Explain, "\n"))
				}
			}
		})
	}
}

// with adds workflow runs on the commit.
func (in Input) with(ws ...Workflow) Input {
	in.Workflows, in.WorkflowsKnown = ws, true
	return in
}

// onBase adds the runs of the base commit.
func (in Input) onBase(runs []Run, ws ...Workflow) Input {
	in.Base, in.BaseWorkflows, in.BaseKnown, in.BaseWorkflowsKnown = runs, ws, true, true
	return in
}

// requiring adds names that the rules require.
func (in Input) requiring(names ...string) Input {
	for _, n := range names {
		in.Required = append(in.Required, Required{Name: n})
	}
	return in
}

// unended returns a workflow run that has not completed.
func (w Workflow) unended(status string) Workflow { w.Status, w.Conclusion = status, ""; return w }

// A required check that runs only in merge queues never reports: the reason is shown once all files are read.
func TestRequiredInQueueAlone(t *testing.T) {
	world := input(job(1, 7, 1, "test", "success")).with(workflow(7, "CI", "pull_request", "success")).requiring("test",
		"queued")
	world.Files = []File{ReadFile(workflowFolder+"q.yml",
		[]byte("on: merge_group\njobs: {queued: {steps: [{run: make}]}}"))}
	if got, want := world.Needs().Files, []string{workflowFolder + "CI.yml", workflowFolder}; !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	world.FilesKnown = true
	got := Judge(world)
	const why = "q.yml has it and runs in merge queues alone"
	if got.Verdict != sia.VerdictBlocked || !strings.Contains(got.Blocked[0].Reason, why) {
		t.Errorf("%s, %+v", got.Verdict, got.Blocked)
	}
}

// A workflow run counts in addition to its jobs.
func TestWorkflowRuns(t *testing.T) {
	ci := func(conclusion string) Workflow { return workflow(7, "CI", "pull_request", conclusion) }
	other := workflow(6, "Lint", "pull_request", "success")
	test := job(1, 7, 1, "test", "success")
	lint := job(2, 6, 1, "lint", "success")
	skip := func(id int64, name string) Run { return job(id, 7, 1, name, "skipped") }
	second := func(w Workflow) Workflow { w.Attempt = 2; return w }
	exhausted := func(in Input) Input { in.Reruns = sia.MaxReruns; return in }
	judgeAll(t, []row{
		{"an empty matrix beside a green job", input(test).with(ci("failure")), sia.VerdictRed,
			"CI ended as failure, and none of its jobs says why"},
		{"an empty matrix beside a required job", input(test).with(ci("failure")).requiring("test"), sia.VerdictRed,
			"CI ended as failure"},
		{"an empty matrix beside a job that is not required", input(test, lint).with(ci("failure"), other).requiring("lint"),
			sia.VerdictGreen, ""},
		{"an empty matrix beside an excused job of another workflow", input(test, job(2, 6, 1, "lint", "failure")).with(
			ci("failure"), workflow(6, "Lint", "pull_request", "failure")).onBase(
			[]Run{job(9, 3, 1, "lint", "failure")}, workflow(3, "Lint", "push", "failure")), sia.VerdictRed,
			"CI ended as failure"},
		{"a red job explains the run", input(test, job(2, 7, 1, "lint", "failure")).with(ci("failure")).requiring("test"),
			sia.VerdictGreen, ""},
		{"a job that is red on the base too explains the run", input(test, job(2, 7, 1, "lint", "failure")).with(
			ci("failure")).onBase([]Run{job(9, 3, 1, "lint", "failure")}, workflow(3, "CI", "push", "failure")),
			sia.VerdictGreen, "lint is excused"},
		{"run again with success", input(test, job(2, 7, 2, "build", "success")).with(second(ci("success"))),
			sia.VerdictGreen, "2 required checks"},
		{"run again", input(test).with(second(ci("").unended("in_progress"))), sia.VerdictBlocked, "CI has not finished"},
		{"the base's run of it failed without a red job, too", input(test).with(ci("failure")).onBase(
			[]Run{job(9, 3, 1, "test", "success")}, workflow(3, "CI", "push", "failure")), sia.VerdictGreen, "CI is excused"},
		{"the base's run of it failed by a red job", input(test).with(ci("failure")).onBase(
			[]Run{job(9, 3, 1, "test", "failure")}, workflow(3, "CI", "push", "failure")), sia.VerdictRed, ""},
		{"one of the base's runs of it was a success", input(test).with(ci("failure")).onBase(
			[]Run{job(9, 3, 1, "test", "success"), job(8, 4, 1, "test", "success")}, workflow(3, "CI", "push", "failure"),
			workflow(4, "CI", "pull_request", "success")), sia.VerdictRed, ""},
		{"the base's run of another workflow failed", input(test).with(ci("failure")).onBase(
			[]Run{job(9, 3, 1, "test", "success")}, workflow(3, "Nightly", "push", "failure")), sia.VerdictRed, ""},
		{"failed, and all its jobs were skipped", input(skip(1, "test"), lint).with(ci("failure"), other), sia.VerdictRed,
			"CI ended as failure"},
		{"failed, and its required job was skipped", input(skip(1, "test"), lint).with(ci("failure"), other).requiring("test",
			"lint"), sia.VerdictRed, "CI ended as failure"},
		{"cancelled, and its jobs are green", input(test).with(ci("cancelled")), sia.VerdictBlocked,
			"CI was cancelled, and none of its jobs says why"},
		{"cancelled, and its required job is green", input(test).with(ci("cancelled")).requiring("test"),
			sia.VerdictBlocked, "CI was cancelled"},
		{"cancelled, and a later run was a success", input(test, job(3, 8, 1, "test", "success")).with(ci("cancelled"),
			workflow(8, "CI", "push", "success")), sia.VerdictGreen, "2 required checks"},
		{"cancelled, and an earlier run was a success", input(test, job(3, 6, 1, "test", "success")).with(ci("cancelled"),
			workflow(6, "CI", "push", "success")), sia.VerdictBlocked, "CI was cancelled"},
		{"cancelled, and the later run was passed over", input(lint).with(ci("cancelled"), other,
			workflow(8, "CI", "pull_request", "skipped")), sia.VerdictBlocked, "CI was cancelled before any of its jobs began"},
		{"cancelled, and the later run is of another workflow", input(test, job(3, 8, 1, "x", "success")).with(
			ci("cancelled"), workflow(8, "Nightly", "pull_request", "success")), sia.VerdictBlocked, "CI was cancelled"},
		{"cancelled by a later run that has its jobs", input(job(1, 7, 1, "test", "cancelled"),
			job(3, 8, 1, "test", "success")).with(ci("cancelled"), workflow(8, "CI", "push", "success")), sia.VerdictGreen,
			"1 required check"},
		{"timed out, and its jobs are green", input(test).with(ci("timed_out")), sia.VerdictRed, "CI ended as timed_out"},
		{"could not start, and its jobs are green", input(test).with(ci("startup_failure")).requiring("test"),
			sia.VerdictRed, "CI ended as startup_failure"},
		{"stale, and its jobs are green", input(test).with(ci("stale")), sia.VerdictRerun, "CI was given up by GitHub"},
		{"stale for good", exhausted(input(test).with(ci("stale"))), sia.VerdictBlocked, "CI was given up by GitHub"},
		{"stale without jobs", input(lint).with(ci("stale"), other), sia.VerdictBlocked, "before any of its jobs began"},
		{"waits for approval, and its jobs are green", input(test).with(ci("action_required")), sia.VerdictBlocked,
			"CI waits for somebody's approval"},
		{"ended in a way that nobody knows", input(test).with(ci("perplexed")), sia.VerdictRed, "CI ended as perplexed"},
		{"neutral", input(test).with(ci("neutral")), sia.VerdictGreen, ""},
	})
	in := input(test, job(3, 7, 1, "build", "success")).with(ci("stale"))
	if got := Judge(in).Rerun; len(got) != 1 || got[0] != 3 {
		t.Errorf("to run again %v, want a job of the stale run", got)
	}
}

// A skipped required check is not green if another check of its workflow run is not
// green.
func TestSkippedBeside(t *testing.T) {
	ci := func(conclusion string) Workflow { return workflow(7, "CI", "pull_request", conclusion) }
	ok, lint := job(1, 7, 1, "ci-ok", "skipped"), job(2, 7, 1, "lint", "success")
	beside := func(r Run) Input { return input(ok, lint, r).with(ci("failure")) }
	test := func(conclusion string) Run { return job(3, 7, 1, "test", conclusion) }
	never := test("failure").class("not_started")
	waits := func(status string) Input {
		r := test("")
		r.Status, r.CompletedAt = status, time.Time{}
		return beside(r).with(ci("").unended("in_progress"))
	}
	baseCI := workflow(5, "CI", "push", "failure")
	baseRuns := func(okThere string) []Run {
		return []Run{job(9, 5, 1, "test", "failure"), job(8, 5, 1, "ci-ok", okThere)}
	}
	judgeAll(t, []row{
		{"its sibling is red", beside(test("failure")).requiring("ci-ok", "lint"), sia.VerdictRed, "test failed"},
		{"its sibling is red, and it alone is required", beside(test("failure")).requiring("ci-ok"), sia.VerdictRed,
			"test failed"},
		{"its sibling is red, and all count", beside(test("failure")), sia.VerdictRed, "test failed"},
		{"its sibling timed out", beside(test("timed_out")).requiring("ci-ok", "lint"), sia.VerdictRed, "test timed out"},
		{"its sibling was cancelled", beside(test("cancelled")).requiring("ci-ok", "lint"), sia.VerdictRerun,
			"test was cancelled"},
		{"its sibling met bad weather", beside(test("failure").class("network")).requiring("ci-ok", "lint"),
			sia.VerdictRerun, "network"},
		{"its sibling was never started", beside(never).requiring("ci-ok", "lint"), sia.VerdictBlocked,
			"test was never started"},
		{"its sibling asks a person", beside(test("action_required")).requiring("ci-ok", "lint"), sia.VerdictBlocked,
			"test asks a person"},
		{"its sibling is queued for ever", waits("queued").requiring("ci-ok", "lint"),
			sia.VerdictBlocked, "test was not started"},
		{"its sibling waits for approval", waits("waiting").requiring("ci-ok", "lint"),
			sia.VerdictBlocked, "test waited"},
		{"its sibling runs", waits("in_progress").requiring("ci-ok", "lint"), sia.VerdictPending,
			"test has not finished"},
		{"its sibling left no check run", input(ok, lint).with(ci("failure")).requiring("ci-ok", "lint"), sia.VerdictRed,
			"CI ended as failure"},
		{"one leg of a matrix is red", input(ok, lint, job(3, 7, 1, "test (1)", "success"),
			job(4, 7, 1, "test (2)", "failure")).with(ci("failure")).requiring("ci-ok", "lint", "test (1)"), sia.VerdictRed,
			"test (2) failed"},
		{"one of twins is red", input(ok, lint, job(3, 7, 1, "test", "success"), job(4, 7, 1, "test", "failure")).with(
			ci("failure")).requiring("ci-ok", "lint"), sia.VerdictRed, "failed"},
		{"its siblings are green", beside(test("success")).with(ci("success")).requiring("ci-ok", "lint"),
			sia.VerdictGreen, "1 required check is green, 1 skipped"},
		{"its siblings are green or skipped", beside(test("skipped")).with(ci("success")).requiring("ci-ok", "lint"),
			sia.VerdictGreen, "1 required check is green, 1 skipped"},
		{"red in another workflow", input(ok, lint, job(3, 8, 1, "test", "failure")).with(ci("success"),
			workflow(8, "Nightly", "pull_request", "failure")).requiring("ci-ok", "lint"), sia.VerdictGreen, ""},
		{"red in another run of its workflow", input(ok, lint, job(3, 8, 1, "test", "failure")).with(ci("success"),
			workflow(8, "CI", "push", "failure")).requiring("ci-ok", "lint"), sia.VerdictGreen, ""},
		{"red, and made through the API into its suite", input(ok, lint, func() Run {
			r := test("failure")
			r.WorkflowRun = 0
			return r
		}()).with(ci("success")).requiring("ci-ok", "lint"), sia.VerdictGreen, ""},
		{"red beside what is not required", beside(test("failure")).requiring("lint"), sia.VerdictGreen, ""},
		{"all of it as on the base", beside(test("failure")).onBase(baseRuns("skipped"), baseCI).requiring("ci-ok", "lint"),
			sia.VerdictGreen, "ci-ok is excused: skipped on the base commit too"},
		{"its sibling is red on the base, and it was green", beside(test("failure")).onBase(baseRuns("success"),
			baseCI).requiring("ci-ok", "lint"), sia.VerdictBlocked, "ci-ok was skipped beside test"},
		{"its sibling is red on the base, and it is new", beside(test("failure")).onBase(baseRuns("skipped")[:1],
			baseCI).requiring("ci-ok", "lint"), sia.VerdictBlocked, "ci-ok was skipped beside test"},
		{"the same where all count", beside(test("failure")).onBase(baseRuns("success"), baseCI), sia.VerdictBlocked,
			"ci-ok was skipped beside test"},
		{"its sibling is flaky to the last", func() Input {
			in := input(ok, lint, test("success"), job(4, 7, 2, "test", "failure")).with(ci("failure"))
			in = in.requiring("ci-ok", "lint")
			in.Reruns = sia.MaxReruns
			return in
		}(), sia.VerdictBlocked, "test flaky"},
		{"one sibling was never started, and another is red", input(ok, never, job(4, 7, 1, "unit", "failure")).with(
			ci("failure")).requiring("ci-ok"), sia.VerdictBlocked, "test was never started"},
	})
	for _, c := range Judge(beside(test("failure")).requiring("ci-ok", "lint")).Checks {
		if c.Name == "ci-ok" && (c.Colour != sia.Skipped || c.Why == "") || c.Name == "test" && !c.Required {
			t.Errorf("shown as %+v", c)
		}
	}
}

// Required workflows, and the checks that count if the rules can't be read.
func TestRules(t *testing.T) {
	path := ".github/workflows/CI.yml"
	ci := func(event, repo string) Workflow {
		w := workflow(7, "CI", event, "success")
		w.Repository = repo
		return w
	}
	judged := func(w Workflow, r Required) Input {
		in := input(job(1, 7, 1, "test", "success")).with(w)
		in.Repo, in.Required = "ada/shop", []Required{r}
		return in
	}
	red := workflow(7, "CI", "pull_request", "failure")
	hidden := func(in Input) Input { in.RequiredKnown = false; return in }
	with := func(in Input, f func(*Input)) Input { f(&in); return in }
	judgeAll(t, []row{
		{"a required workflow is green", judged(ci("pull_request", ""), Required{Workflow: path}), sia.VerdictGreen, ""},
		{"its repository is named", judged(ci("pull_request", "Ada/Shop"), Required{Workflow: path}), sia.VerdictGreen, ""},
		{"the rule names the repository", judged(ci("pull_request_target", ""), Required{Workflow: path,
			Repository: "ada/shop"}), sia.VerdictGreen, ""},
		{"in a merge queue", judged(ci("merge_group", ""), Required{Workflow: path}), sia.VerdictGreen, ""},
		{"on a push", judged(ci("push", ""), Required{Workflow: path}), sia.VerdictBlocked,
			"the workflow .github/workflows/CI.yml did not appear"},
		{"on demand", judged(ci("workflow_dispatch", ""), Required{Workflow: path}), sia.VerdictBlocked, "did not appear"},
		{"of another repository", judged(ci("pull_request", "acme/rules"), Required{Workflow: path,
			Repository: "acme/rules"}), sia.VerdictGreen, ""},
		{"of another repository, and REST does not say which", judged(ci("pull_request", AnotherRepository),
			Required{Workflow: path, Repository: "acme/rules"}), sia.VerdictGreen, ""},
		{"of another repository that the app can't see", judged(ci("pull_request", AnotherRepository),
			Required{Workflow: path, Repository: "#77"}), sia.VerdictGreen, ""},
		{"of another repository that the app can't see, and GraphQL names it", judged(ci("pull_request", "acme/rules"),
			Required{Workflow: path, Repository: "#77"}), sia.VerdictGreen, ""},
		{"of another repository that the app can't see, and the own file of that path ran", judged(ci("pull_request", ""),
			Required{Workflow: path, Repository: "#77"}), sia.VerdictBlocked, "did not appear"},
		{"of another repository, on a push", judged(ci("push", AnotherRepository),
			Required{Workflow: path, Repository: "acme/rules"}), sia.VerdictBlocked, "did not appear"},
		{"the own one, and another repository's of that path ran, as REST says", judged(
			ci("pull_request", AnotherRepository), Required{Workflow: path}), sia.VerdictBlocked, "did not appear"},
		{"of another repository, and the own file of that path ran", judged(ci("pull_request", "ada/shop"),
			Required{Workflow: path, Repository: "acme/rules"}), sia.VerdictBlocked,
			"the workflow .github/workflows/CI.yml of acme/rules did not appear"},
		{"of another repository, and nobody says in which the file is", judged(ci("pull_request", ""),
			Required{Workflow: path, Repository: "acme/rules"}), sia.VerdictBlocked, "did not appear"},
		{"the own one, and another repository's of that path ran", judged(ci("pull_request", "acme/rules"),
			Required{Workflow: path}), sia.VerdictBlocked, "did not appear"},
		{"a file that ends alike", judged(ci("pull_request", ""), Required{Workflow: "workflows/CI.yml"}),
			sia.VerdictBlocked, "did not appear"},
		{"a required workflow is red", with(input(job(1, 7, 1, "test", "failure"), job(2, 8, 1, "lint", "success")).with(
			red, workflow(8, "Nightly", "push", "success")), func(in *Input) {
			in.Required = []Required{{Workflow: path}, {Name: "lint"}}
		}), sia.VerdictRed, "test failed"},
		{"a required workflow is red besides its jobs", with(input(job(1, 7, 1, "test", "success")).with(red),
			func(in *Input) { in.Required = []Required{{Workflow: path}} }), sia.VerdictRed, "CI ended as failure"},

		{"rules that can't be read: all count", hidden(input(run(1, "test", "success"), run(2, "lint", "failure"))),
			sia.VerdictRed, "so every check that ran counts"},
		{"settings name one: all count", with(hidden(input(run(1, "test", "success"), run(2, "lint", "failure"))),
			func(in *Input) { in.Settings.Required = []string{"test"} }), sia.VerdictRed, "lint failed"},
		{"settings name one that is missing", with(hidden(input(run(1, "test", "success"))),
			func(in *Input) { in.Settings.Required = []string{"e2e"} }), sia.VerdictBlocked, "e2e did not appear"},
		{"some rules could be read", hidden(input(run(1, "test", "success"), run(2, "lint", "failure")).requiring("test")),
			sia.VerdictRed, "lint failed"},
		{"rules that can't be read, and all is green", hidden(input(run(1, "test", "success"))), sia.VerdictGreen,
			"rules could not be read"},
	})
}

// A check that has begun and never ends is blocked.
func TestWithoutEnd(t *testing.T) {
	days := func(in Input, n int) Input {
		in.Since = noon.AddDate(0, 0, -n)
		for i := range in.Runs {
			in.Runs[i].StartedAt = in.Since
			if in.Runs[i].Status == "completed" {
				in.Runs[i].CompletedAt = in.Since
			}
		}
		for i := range in.Statuses {
			in.Statuses[i].UpdatedAt = in.Since
		}
		return in
	}
	pending := func(in Input) Input { in.Statuses = []Status{status("ci/x", "pending")}; return in }
	// GitHub never ended the job.
	leftOpen := func(ago time.Duration) Input {
		w := workflow(7, "CI", "push", "success")
		w.UpdatedAt = noon.Add(-ago)
		r := job(1, 7, 1, "test", "")
		r.Status, r.StartedAt, r.CompletedAt = "in_progress", noon.Add(-time.Hour), time.Time{}
		in := input(r).with(w)
		in.Since = noon.Add(-time.Hour)
		return in
	}
	judgeAll(t, []row{
		{"its workflow run ended long ago", leftOpen(16 * time.Minute), sia.VerdictBlocked,
			"test has not finished, although its workflow run did 15m0s ago"},
		{"its workflow run has just ended", leftOpen(time.Minute), sia.VerdictPending, "test has not finished"},
		{"a check runs for three days", days(input(unfinished(1, "test")), 3), sia.VerdictBlocked,
			"test has not finished, and began more than 6 hours ago"},
		{"a job runs for three days", days(input(func() Run {
			r := job(1, 7, 1, "test", "")
			r.Status, r.CompletedAt = "in_progress", time.Time{}
			return r
		}()).with(workflow(7, "CI", "push", "").unended("in_progress")), 3), sia.VerdictBlocked, "test has not finished"},
		{"a status is pending for three days", days(pending(input(run(1, "test", "success"))), 3), sia.VerdictBlocked,
			"ci/x has not finished"},
		{"another is red", days(input(unfinished(1, "test"), run(2, "lint", "failure")), 3), sia.VerdictRed, "lint failed"},
		{"it is not required", days(input(unfinished(1, "test"), run(2, "lint", "success")).requiring("lint"), 3),
			sia.VerdictGreen, ""},
		{"it began five hours ago", func() Input {
			in := days(input(unfinished(1, "test")), 3)
			in.Runs[0].StartedAt = noon.Add(-5 * time.Hour)
			return in
		}(), sia.VerdictPending, "test has not finished"},
		{"more than that is waited for", func() Input {
			in := days(input(unfinished(1, "test")), 3)
			in.Settings.Wait = sia.Duration(96 * time.Hour)
			return in
		}(), sia.VerdictPending, "test has not finished"},
	})
}

// A required job that does not exist yet because a job that it needs is running is waited for as long as that may run.
func TestRequiredJobThatIsNotMadeYet(t *testing.T) {
	going := workflow(7, "CI", "pull_request", "").unended("in_progress")
	test := job(1, 7, 1, "test", "")
	test.Status, test.CompletedAt, test.StartedAt = "in_progress", time.Time{}, noon.Add(-20*time.Minute)
	lint := job(2, 8, 1, "lint", "success")
	other := workflow(8, "Lint", "pull_request", "success")
	world := func(require ...string) Input {
		in := input(test, lint).with(going, other).of(sumCI).requiring(require...)
		in.Since, in.Draft = noon.Add(-20*time.Minute), true
		return in
	}
	on := func(in Input, f func(*Input)) Input { f(&in); return in }
	long := func(in *Input) {
		in.Since, in.Runs[0].StartedAt = noon.Add(-7*time.Hour), noon.Add(-7*time.Hour)
	}
	judgeAll(t, []row{
		{"what it needs runs", world("ci-ok", "lint"), sia.VerdictPending,
			"ci-ok has not appeared yet, and may when test has ended"},
		{"nobody can read the file", on(world("ci-ok", "lint"), func(in *Input) { in.Files[0].Unread = true }),
			sia.VerdictPending, "ci-ok has not appeared yet"},
		{"the file has no such job", world("ci", "lint"), sia.VerdictBlocked, "ci did not appear within 15m0s"},
		{"its run has ended", on(world("ci-ok", "lint"), func(in *Input) {
			in.Runs[0], in.Workflows[0] = job(1, 7, 1, "test", "success"), workflow(7, "CI", "pull_request", "success")
		}), sia.VerdictBlocked, "ci-ok did not appear"},
		{"what it needs never ends", on(world("ci-ok", "lint"), long), sia.VerdictBlocked, "ci-ok did not appear"},
		{"a workflow is required", on(world(), func(in *Input) {
			in.Required = []Required{{Workflow: ".github/workflows/gone.yml"}}
		}), sia.VerdictBlocked, "did not appear"},
	})
	if n := unknown(world("ci-ok", "lint")).with(going, other).Needs(); !slices.Equal(n.Files, []string{ciPath,
		".github/workflows/Lint.yml"}) {
		t.Errorf("whether it may come takes %+v", n)
	}
}

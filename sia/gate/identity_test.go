package gate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sia-bot/sia/sia"
)

// job returns a check run of GitHub Actions: a job of a workflow run, in an attempt of it.
func job(id, workflow int64, attempt int, name, conclusion string) Run {
	r := run(id, name, conclusion)
	r.App, r.SuiteID, r.WorkflowRun, r.Attempt = "github-actions", 1000+workflow, workflow, attempt
	return r
}

// workflow returns a finished workflow run. Those with higher ids are newer.
func workflow(id int64, file, event, conclusion string) Workflow {
	return Workflow{ID: id, SuiteID: 1000 + id, Path: ".github/workflows/" + file + ".yml", Name: file, Event: event,
		Attempt: 1, Status: "completed", Conclusion: conclusion,
		StartedAt: noon.Add(-2*time.Hour + time.Duration(id)*time.Minute)}
}

// Each row shows which runs belong to one check.
func TestIdentity(t *testing.T) {
	var (
		green   = sia.VerdictGreen
		red     = sia.VerdictRed
		pending = sia.VerdictPending
		none    = sia.VerdictNone
		rerun   = sia.VerdictRerun
		blocked = sia.VerdictBlocked
		on      = func(in Input, ws ...Workflow) Input { in.Workflows, in.WorkflowsKnown = ws, true; return in }
		base    = func(in Input, runs []Run, ws ...Workflow) Input {
			in.Base, in.BaseWorkflows, in.BaseKnown, in.BaseWorkflowsKnown = runs, ws, true, true
			return in
		}
		requiring = func(in Input, rs ...Required) Input { in.Required = rs; return in }
		attempt   = func(w Workflow, n int) Workflow { w.Attempt = n; return w }
		unended   = func(w Workflow, status string) Workflow { w.Status, w.Conclusion = status, ""; return w }
		young     = func(in Input) Input { in.Since = noon.Add(-time.Minute); return in }
		withApp   = func(r Run, id int64) Run { r.AppID = id; return r }
		ofApp     = func(r Run, slug string) Run { r.App = slug; return r }
		suite     = func(r Run, id int64) Run { r.SuiteID = id; return r }
	)
	ci, nightly := workflow(7, "CI", "push", "success"), workflow(8, "Nightly", "push", "success")
	for _, c := range []struct {
		name string
		in   Input
		want sia.GateVerdict
		says string // in the explanation
	}{
		{"red on the base in the run of the same event, green in another's",
			base(on(input(job(1, 7, 1, "test", "failure"), run(2, "lint", "success")), workflow(7, "CI", "push", "failure")),
				[]Run{job(11, 17, 1, "test", "failure"), job(12, 18, 1, "test", "success")},
				workflow(17, "CI", "push", "failure"), workflow(18, "CI", "pull_request", "success")), green,
			"test is excused: red on the base commit too"},
		{"green on the base in the run of the same event, red in another's",
			base(on(input(job(1, 7, 1, "test", "failure"), run(2, "lint", "success")), workflow(7, "CI", "push", "failure")),
				[]Run{job(11, 17, 1, "test", "success"), job(12, 18, 1, "test", "failure")},
				workflow(17, "CI", "push", "success"), workflow(18, "CI", "pull_request", "failure")), red, "test failed"},
		{"a workflow's own is red, and a job of its name is on the base",
			base(on(input(job(1, 7, 1, "lint", "success"), suite(ofApp(run(2, "test", "failure"), "github-actions"), 1007)), ci),
				[]Run{job(11, 17, 1, "test", "failure")}, workflow(17, "CI", "push", "failure")), red, "test failed"},
		{"a workflow's own is red, and is so on the base",
			base(on(input(job(1, 7, 1, "lint", "success"), suite(ofApp(run(2, "test", "failure"), "github-actions"), 1007)), ci),
				[]Run{suite(ofApp(run(12, "test", "failure"), "github-actions"), 1017)}, workflow(17, "CI", "push", "success")),
			green, "test is excused: red on the base commit too"},
		{"a job is red, and a workflow's own of its name is on the base",
			base(on(input(job(1, 7, 1, "test", "failure"), job(2, 8, 1, "lint", "success")),
				workflow(7, "CI", "push", "failure"), nightly),
				[]Run{suite(ofApp(run(12, "test", "failure"), "github-actions"), 1017)},
				workflow(17, "Nightly", "push", "success")), red, "test failed"},
		{"a run failed on the base for the same event, and did not for another",
			base(on(input(job(1, 7, 1, "test", "success")), workflow(7, "CI", "push", "failure")),
				[]Run{job(11, 17, 1, "test", "success"), job(12, 18, 1, "test", "success")},
				workflow(17, "CI", "push", "failure"), workflow(18, "CI", "pull_request", "success")), green,
			"CI is excused: red on the base commit too"},
		{"twins of two workflows, the red one first",
			on(input(job(1, 7, 1, "test", "failure"), job(2, 8, 1, "test", "success")), ci, nightly), red, "test (CI) failed"},
		{"twins of two workflows, the red one last",
			on(input(job(1, 7, 1, "test", "success"), job(2, 8, 1, "test", "failure")), ci, nightly), red,
			"test (Nightly) failed"},
		{"twins by two events", on(input(job(1, 7, 1, "test", "failure"), job(2, 8, 1, "test", "success")), ci,
			workflow(8, "CI", "pull_request", "success")), red, "test (push) failed"},
		{"twins of which nothing is known but their suites", input(job(1, 7, 1, "test", "failure"),
			job(2, 8, 1, "test", "success")), red, "test (1) failed"},
		{"a required name binds all that bear it", requiring(on(input(job(1, 7, 1, "test", "failure"),
			job(2, 8, 1, "test", "success")), ci, nightly), Required{Name: "test"}), red, "test (CI) failed"},
		{"one twin is skipped", on(input(job(1, 7, 1, "test", "failure"), job(2, 8, 1, "test", "skipped")), ci, nightly), red,
			"test (CI) failed"},
		{"a green twin beside a skipped one", on(input(job(1, 7, 1, "test", "success"), job(2, 8, 1, "test", "skipped")), ci,
			nightly), green, "1 required check is green, 1 skipped"},
		{"a twin still runs", on(input(job(1, 7, 1, "test", "success"), func() Run {
			r := job(2, 8, 1, "test", "")
			r.Status = "in_progress"
			return r
		}()), ci, unended(nightly, "in_progress")), pending, "test (Nightly) has not finished"},

		{"a later attempt replaces an earlier", on(input(job(1, 7, 1, "test", "failure"), job(2, 7, 2, "test", "success")),
			attempt(ci, 2)), green, "flaky"},
		{"a later attempt is red", on(input(job(1, 7, 1, "test", "success"), job(2, 7, 2, "test", "failure")),
			attempt(ci, 2)), rerun, "flaky"},
		{"a matrix whose jobs share a name", on(input(job(1, 7, 1, "test", "failure"), job(2, 7, 1, "test", "success")), ci),
			red, "test (1) failed"},
		{"it is not known in which attempts they ran", on(input(job(1, 7, 0, "test", "failure"),
			job(2, 7, 0, "test", "success")), ci), red, "test (1) failed"},
		{"GitHub does not say in which attempts they ran", on(input(job(1, 7, NoAttempt, "test", "failure"),
			job(2, 7, NoAttempt, "test", "success")), ci), red, "test (1) failed"},
		{"the failed one of a matrix was run again, and the run is a success now",
			on(input(job(1, 7, 1, "test", "failure"), job(2, 7, 1, "test", "success"), job(3, 7, 2, "test", "success")),
				attempt(ci, 2)), green, "1 required check"},
		{"the green one of a matrix was run again",
			on(input(job(1, 7, 1, "test", "failure"), job(2, 7, 1, "test", "success"), job(3, 7, 2, "test", "success")),
				attempt(workflow(7, "CI", "push", "failure"), 2)), red, "test (1) failed"},
		{"all of a matrix were run again", on(input(job(1, 7, 1, "test", "failure"), job(2, 7, 1, "test", "success"),
			job(3, 7, 2, "test", "success"), job(4, 7, 2, "test", "success")), attempt(ci, 2)), green, "2 required checks"},

		{"another app's later check replaces its earlier", input(run(1, "test", "failure"), run(2, "test", "success")), green,
			"1 required check is green"},
		{"another app's later check is red", input(run(1, "test", "success"), run(2, "test", "failure")), red, "test failed"},
		{"another app's earlier check was given up", input(unfinished(1, "test"), run(2, "test", "success")), green, ""},
		{"another app's later check runs", input(run(1, "test", "success"), unfinished(2, "test")), pending,
			"test has not finished"},
		{"both of another app's run", input(unfinished(1, "test"), unfinished(2, "test")), pending,
			"test (2) has not finished"},
		{"another app's is made anew, dated as the first", input(run(1, "test", "failure"), func() Run {
			r := run(2, "test", "success")
			r.StartedAt = run(1, "", "").StartedAt
			return r
		}()), green, ""},
		{"another app's hang in several suites", input(suite(run(1, "test", "failure"), 5),
			suite(run(2, "test", "success"), 6)),
			green, ""},
		{"two apps' of one name", input(run(1, "test", "failure"), ofApp(run(2, "test", "success"), "x")), red,
			"test (ci) failed"},
		{"a workflow's own, with its token, in the suite of another", on(input(job(1, 7, 1, "test", "success"),
			suite(ofApp(run(2, "report", "failure"), "github-actions"), 1007),
			suite(ofApp(run(3, "report", "success"), "github-actions"), 1008)), ci, nightly), green, "2 required checks"},
		{"a workflow's own is red", on(input(job(1, 7, 1, "test", "success"),
			suite(ofApp(run(2, "report", "success"), "github-actions"), 1007),
			suite(ofApp(run(3, "report", "failure"), "github-actions"), 1008)), ci, nightly), red, "report failed"},
		{"a workflow's own is no job, whatever its name", on(input(job(1, 7, 1, "test", "failure"),
			suite(ofApp(run(2, "test", "success"), "github-actions"), 1007)), ci), red, "test (1) failed"},
		{"a workflow without jobs in the suite of which another's own hangs", on(input(job(1, 8, 1, "test", "success"),
			suite(ofApp(run(2, "report", "success"), "github-actions"), 1007)), workflow(7, "CI", "push", "failure"), nightly),
			red, "CI ended as failure before any of its jobs began"},

		{"cancelled by a later run of its workflow", on(input(job(1, 7, 1, "test", "cancelled"),
			job(2, 8, 1, "test", "success")), ci, workflow(8, "CI", "pull_request", "success")), green, "1 required check"},
		{"cancelled by a later run that is red", on(input(job(1, 7, 1, "test", "cancelled"), job(2, 8, 1, "test", "failure")),
			ci, workflow(8, "CI", "pull_request", "failure")), red, "test failed"},
		{"cancelled, and the later run is of another workflow", on(input(job(1, 7, 1, "test", "cancelled"),
			job(2, 8, 1, "test", "success")), ci, nightly), rerun, "test (CI) was cancelled"},
		{"cancelled, and the later run passed it over", on(input(job(1, 7, 1, "test", "cancelled"),
			job(2, 8, 1, "test", "skipped"), job(3, 8, 1, "lint", "success")), ci, workflow(8, "CI", "pull_request", "success")),
			rerun, "was cancelled"},
		{"cancelled, run again, and cancelled again", on(input(job(1, 7, 1, "test", "cancelled"),
			job(2, 7, 2, "test", "cancelled")), attempt(ci, 2)), blocked, "cancelled again"},
		{"skipped on a draft, and run when it was ready", on(input(job(1, 7, 1, "test", "skipped"),
			job(2, 8, 1, "test", "success")), workflow(7, "CI", "pull_request", "skipped"),
			workflow(8, "CI", "pull_request", "success")), green, "1 required check"},

		{"red on the base, in the same workflow", base(on(input(job(1, 7, 1, "test", "failure"),
			job(2, 7, 1, "lint", "success")), ci), []Run{job(9, 3, 1, "test", "failure")}, workflow(3, "CI", "push", "failure")),
			green, "test is excused"},
		{"red on the base, in another workflow", base(on(input(job(1, 7, 1, "test", "failure"),
			job(2, 7, 1, "lint", "success")), ci), []Run{job(9, 3, 1, "test", "failure"), job(8, 4, 1, "test", "success")},
			workflow(3, "Nightly", "push", "failure"), workflow(4, "CI", "push", "success")), red, "test failed"},
		{"a twin is red on the base, and nothing is known of workflows", base(input(job(1, 7, 1, "test", "failure"),
			job(2, 7, 1, "lint", "success")), []Run{job(9, 3, 1, "test", "failure"), job(8, 4, 1, "test", "success")}), red,
			"test failed"},
		{"both twins are red on the base, and nothing is known of workflows", base(input(job(1, 7, 1, "test", "failure"),
			job(2, 7, 1, "lint", "success")), []Run{job(9, 3, 1, "test", "failure"), job(8, 4, 1, "test", "failure")}), green,
			"test is excused"},
		{"red, then green on the base, and its attempts are not known", base(on(input(job(1, 7, 1, "test", "failure"),
			job(2, 7, 1, "lint", "success")), ci), []Run{job(8, 3, NoAttempt, "test", "failure"),
			job(9, 3, NoAttempt, "test", "success")}, workflow(3, "CI", "push", "success")), red, "test failed"},

		{"required of an app that reported", requiring(input(withApp(run(1, "test", "success"), 5)),
			Required{Name: "test", App: 5}), green, "1 required check"},
		{"required of another app", requiring(input(withApp(run(1, "test", "success"), 5)),
			Required{Name: "test", App: 6}), blocked, "test did not appear"},
		{"another app's check of a required name", requiring(input(withApp(run(1, "test", "success"), 5),
			withApp(func() Run { r := run(2, "test", "failure"); r.App = "x"; return r }(), 6)),
			Required{Name: "test", App: 5}), green, "1 required check"},
		{"a workflow waits for approval", on(input(run(1, "test", "success")), workflow(7, "CI", "push", "action_required")),
			blocked, "CI waits for somebody's approval"},
		{"nothing but a workflow that waits for approval", young(on(input(), workflow(7, "CI", "push", "action_required"))),
			blocked, "CI waits for somebody's approval"},
		{"a workflow that could not start",
			on(input(run(1, "test", "success")), workflow(7, "CI", "push", "startup_failure")),
			red, "CI ended as startup_failure"},
		{"a workflow that could not start on the base either", base(on(input(run(1, "test", "success")),
			workflow(7, "CI", "push", "startup_failure")), nil, workflow(3, "CI", "push", "startup_failure")), green,
			"CI is excused"},
		{"a workflow is queued", young(on(input(run(1, "test", "success")), func() Workflow {
			w := unended(ci, "queued")
			w.StartedAt = noon.Add(-time.Minute)
			return w
		}())), pending, "CI has not begun"},
		{"a workflow is about to begin its next job", young(on(input(job(1, 7, 1, "test", "success")),
			unended(ci, "in_progress"))), pending, "CI has not finished"},
		{"a workflow never begins its next job", on(input(job(1, 7, 1, "test", "success")), unended(ci, "in_progress")),
			blocked, "CI has not finished, and began no job for 15m"},
		{"a workflow is queued again", young(requiring(on(input(job(1, 7, 1, "test", "failure")),
			attempt(unended(ci, "queued"), 2)), Required{Name: "test"})), pending, "CI has not finished"},
		{"a workflow was queued for too long", on(input(run(1, "test", "success")), unended(ci, "queued")), blocked,
			"CI was not started within 15m"},
		{"a workflow is queued beside what is required",
			requiring(on(input(run(1, "test", "success")), unended(ci, "queued")),
				Required{Name: "test"}), green, ""},
		{"a workflow had nothing to run", on(input(run(1, "test", "success")), workflow(7, "CI", "push", "skipped")), green,
			"1 required check"},
		{"a job was queued for too long", input(func() Run { r := unfinished(1, "test"); r.Status = "queued"; return r }()),
			blocked, "no runner"},
		{"a job is queued behind another", input(func() Run { r := unfinished(1, "test"); r.Status = "queued"; return r }(),
			unfinished(2, "build")), pending, "build has not finished"},
		{"a job was never started", input(run(1, "test", "success"), func() Run {
			r := run(2, "lint", "failure").class("not_started")
			r.Said = "The job was not started because of billing"
			return r
		}()), blocked, "lint was never started: The job was not started because of billing"},
		{"red beside what is blocked", input(run(1, "test", "failure"), run(2, "deploy", "action_required")), red,
			"test failed"},
		{"everything was skipped", on(input(job(1, 7, 1, "test", "skipped")), ci), none, "test was skipped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 3 {
				rand.Shuffle(len(c.in.Runs), func(i, j int) { c.in.Runs[i], c.in.Runs[j] = c.in.Runs[j], c.in.Runs[i] })
				got := Judge(c.in)
				if got.Verdict != c.want || !strings.Contains(strings.Join(got.Explain, "\n"), c.says) {
					t.Errorf("verdict %s, want %s; explained by\n%s", got.Verdict, c.want, strings.Join(got.Explain, "\n"))
				}
			}
		})
	}
}

// A job that passed and then fails in a re-run is flaky before a pass, and red after it.
func TestFlakyAfterAPass(t *testing.T) {
	in := input(job(1, 1, 1, "test", "success"), job(2, 1, 2, "test", "failure"))
	in.Workflows, in.WorkflowsKnown = []Workflow{workflow(1, "ci", "push", "failure")}, true
	if got := Judge(in).Checks[0]; got.Colour != sia.Running {
		t.Errorf("before it: %+v", got)
	}
	if in.Afterwards = true; Judge(in).Checks[0].Colour != sia.Red {
		t.Errorf("after it: %+v", Judge(in).Checks)
	}
}

// Every conclusion that means a failure of the code is red after a pass, if the job passed before.
func TestTimedOutAfterAPass(t *testing.T) {
	in := input(job(1, 1, 1, "test", "success"), job(2, 1, 2, "test", "timed_out"))
	in.Workflows, in.WorkflowsKnown = []Workflow{workflow(1, "ci", "push", "failure")}, true
	if in.Afterwards = true; Judge(in).Checks[0].Colour != sia.Red {
		t.Errorf("%+v", Judge(in).Checks)
	}
}

// A job that GitHub never started, because of billing or a quota, neither excuses a job of the commit nor is excused.
func TestNeverStartedExcusesNothing(t *testing.T) {
	never := func(id int64) Run { return job(id, id, 1, "test", "failure").class(notStarted) }
	lint := run(3, "lint", "success")
	judgeAll(t, []row{
		{"on the commit", input(never(1), lint).onBase([]Run{job(9, 9, 1, "test", "failure")}), sia.VerdictBlocked,
			"test was never started"},
		{"on the base", input(job(1, 1, 1, "test", "failure"), lint).onBase([]Run{never(9)}), sia.VerdictRed, "test failed"},
		{"on neither", input(job(1, 1, 1, "test", "failure"), lint).onBase([]Run{job(9, 9, 1, "test", "failure")}),
			sia.VerdictGreen, "test is excused"},
	})
}

// GitHub re-runs no job before its workflow run has completed.
func TestRunAgainWaitsForTheRun(t *testing.T) {
	going := workflow(7, "CI", "pull_request", "")
	going.Status = "in_progress"
	build := unfinished(2, "build")
	build.App, build.SuiteID, build.WorkflowRun, build.Attempt = actionsApp, 7, 7, 1
	network := job(1, 7, 1, "test", "failure").class("network")
	young := func(in Input) Input { in.Since = noon.Add(-time.Minute); return in.requiring("test") }
	queued := build
	queued.Status = "queued"
	judgeAll(t, []row{
		{"another job runs", young(input(network, build).with(going)), sia.VerdictPending,
			"can be run again when its workflow run has ended"},
		{"another job never begins", input(network, queued).with(going).requiring("test"), sia.VerdictBlocked,
			"can't be run again while its workflow run goes on"},
		{"it has ended", input(network).with(workflow(7, "CI", "pull_request", "failure")).requiring("test"),
			sia.VerdictRerun, "network"},
	})
}

// A cancelled or skipped job is not final while a later run of its workflow is running: that creates a job when its
// needs have ended, and re-running the earlier run would cancel it.
func TestLaterRunGoesOn(t *testing.T) {
	first, second := workflow(7, "CI", "pull_request", "cancelled"), workflow(8, "CI", "pull_request", "").unended(
		"in_progress")
	going := func(id, workflow int64, name string) Run {
		r := job(id, workflow, 1, name, "")
		r.Status, r.CompletedAt, r.StartedAt = "in_progress", time.Time{}, noon.Add(-40*time.Second)
		return r
	}
	lint := run(9, "lint", "success")
	build := going(3, 8, "build")
	on := func(in Input, f func(*Input)) Input { f(&in); return in }
	skippedFirst := input(job(1, 7, 1, "build", "cancelled"), job(2, 7, 1, "e2e", "skipped"), build, lint).with(first,
		second).requiring("e2e", "lint")
	judgeAll(t, []row{
		{"skipped for what was cancelled", skippedFirst, sia.VerdictPending,
			"e2e was skipped, and a later run of its workflow goes on"},
		{"skipped on a draft", input(job(1, 7, 1, "build", "skipped"), job(2, 7, 1, "test", "skipped"), build, lint).with(
			workflow(7, "CI", "pull_request", "skipped"), second).requiring("test", "lint"), sia.VerdictPending,
			"test was skipped"},
		{"cancelled", input(job(1, 7, 1, "build", "success"), job(2, 7, 1, "e2e", "cancelled"), build).with(first,
			second).requiring("e2e"), sia.VerdictPending, "e2e was cancelled, and a later run"},
		{"cancelled twice", input(job(1, 7, 1, "e2e", "cancelled"), job(2, 7, 2, "e2e", "cancelled"), build).with(first,
			second).requiring("e2e"), sia.VerdictPending, "e2e was cancelled, and a later run"},
		{"cancelled by an earlier run, which was run again", input(going(4, 7, "build"), job(3, 8, 1, "e2e",
			"cancelled")).with(workflow(7, "CI", "push", "").unended("in_progress"), workflow(8, "CI", "pull_request",
			"cancelled")).requiring("e2e"), sia.VerdictPending, "e2e was cancelled, and a later run"},
		{"cancelled, and the later run never begins", input(job(1, 7, 1, "build", "success"), job(2, 7, 1, "e2e",
			"cancelled")).with(first, second.unended("queued")).requiring("e2e"), sia.VerdictBlocked, "e2e was cancelled"},
		{"ended at its time limit", input(job(2, 7, 1, "e2e", "cancelled").class("timeout"), build).with(first,
			second).requiring("e2e"), sia.VerdictRed, "e2e timed out"},
		{"green, and the later run has not made it yet", input(job(1, 7, 1, "ok", "success"), build).with(workflow(7, "CI",
			"pull_request", "success"), second).requiring("ok"), sia.VerdictPending, "ok is to run once more"},
		{"green, and a run of another workflow has not made it yet", on(input(job(1, 7, 1, "ci-ok", "success"), build).with(
			workflow(7, "Nightly", "pull_request", "success"), second).requiring("ci-ok"), func(in *Input) {
			*in = in.of(sumCI)
		}), sia.VerdictPending, "ci-ok is to run once more, in another run of CI"},
		{"green, and a run of another workflow has no such job", on(input(job(1, 7, 1, "e2e", "success"), build).with(
			workflow(7, "Nightly", "pull_request", "success"), second).requiring("e2e"), func(in *Input) {
			*in = in.of(sumCI)
		}), sia.VerdictGreen, ""},
		{"green, and the later run waits for ever for something else", input(job(1, 7, 1, "ok", "success"), func() Run {
			r := going(4, 8, "preview")
			r.Status, r.StartedAt = "waiting", noon.Add(-time.Hour)
			return r
		}()).with(workflow(7, "CI", "push", "success"), second.unended("waiting")).requiring("ok"), sia.VerdictGreen, ""},
		{"the later run has it, and waits for something else", input(job(1, 7, 1, "e2e", "skipped"), job(3, 8, 1, "e2e",
			"success"), func() Run { r := going(4, 8, "preview"); r.Status = "waiting"; return r }()).with(workflow(7, "CI",
			"push", "success"), second.unended("waiting")).requiring("e2e"), sia.VerdictGreen, "1 skipped"},
		{"the later run is of another workflow", on(skippedFirst, func(in *Input) {
			in.Workflows = []Workflow{first, workflow(8, "Nightly", "pull_request", "").unended("in_progress")}
		}), sia.VerdictRerun, "build (CI) was cancelled"},
	})
}

// A workflow that a rule requires is green if its run is: no job of it counts if the run failed, even if it failed on
// the base too.
func TestRequiredRunThatIsExcused(t *testing.T) {
	failed := workflow(7, "CI", "pull_request", "failure")
	in := input(job(1, 7, 1, "test", "success")).with(failed).onBase([]Run{job(9, 8, 1, "test", "success")},
		workflow(8, "CI", "pull_request", "failure"))
	in.Required = []Required{{Workflow: ciPath}}
	waived := in
	waived.Waived = []string{"CI"}
	judgeAll(t, []row{
		{"nothing else ran", in, sia.VerdictBlocked, "GitHub will not merge this"},
		{"a person goes on without it", waived, sia.VerdictNone, "so none of them says whether this change is right"},
	})
}

// If a rule requires a workflow, a failed job does not decide before its run has completed: it may be allowed to fail.
func TestRedInARequiredRunThatGoesOn(t *testing.T) {
	going := workflow(7, "CI", "pull_request", "")
	going.Status = "in_progress"
	after := unfinished(2, "after")
	after.App, after.SuiteID, after.WorkflowRun, after.Attempt, after.Status = actionsApp, 7, 7, 1, "queued"
	failed := job(1, 7, 1, "test", "failure")
	required := func(in Input) Input { in.Required = []Required{{Workflow: ciPath}}; return in }
	ended := workflow(7, "CI", "pull_request", "failure")
	judgeAll(t, []row{
		{"it goes on", required(input(failed, after).with(going)), sia.VerdictBlocked, "goes on"},
		{"it has ended", required(input(failed).with(ended)), sia.VerdictRed, "test failed"},
		{"a rule asks for the job", input(failed, after).with(going).requiring("test"), sia.VerdictRed, "test failed"},
	})
}

// A job of an earlier run that waited longer for a runner does not replace one that was cancelled meanwhile.
func TestALateStartReplacesNothing(t *testing.T) {
	first, second := job(1, 1, 1, "test", "success"), job(2, 2, 1, "test", "cancelled")
	first.StartedAt = second.StartedAt.Add(5 * time.Second)
	in := input(first, second)
	in.Workflows, in.WorkflowsKnown = []Workflow{workflow(1, "ci", "push", "success"),
		workflow(2, "ci", "pull_request", "cancelled")}, true
	if got := Judge(in); got.Verdict != sia.VerdictRerun {
		t.Errorf("%s: %v", got.Verdict, got.Explain)
	}
}

// A verdict mentions drafts only if checks may wait for the pull request to be marked
// ready.
func TestGuarded(t *testing.T) {
	for _, c := range []struct {
		name  string
		runs  []Run
		draft bool
		want  bool
	}{
		{"all skipped on a draft", []Run{run(1, "test", "skipped")}, true, true},
		{"all skipped, and no draft", []Run{run(1, "test", "skipped")}, false, false},
		{"green on a draft", []Run{run(1, "test", "success")}, true, false},
		{"blocked on a draft", []Run{run(1, "test", "action_required")}, true, false},
	} {
		in := input(c.runs...)
		in.Draft = c.draft
		if got := Judge(in); got.Guarded != c.want {
			t.Errorf("%s: guarded %t, want %t; %v", c.name, got.Guarded, c.want, got.Explain)
		}
	}
	in := input(run(1, "test", "success"))
	in.Draft, in.Required = true, []Required{{Name: "test"}, {Name: "e2e"}}
	if got := Judge(in); got.Verdict != sia.VerdictBlocked || !got.Guarded {
		t.Errorf("a required check that is absent on a draft: %s, guarded %t", got.Verdict, got.Guarded)
	}
}

// The red runs have the names of the shown checks, so that failures can be assigned.
func TestRedRunsAreNamed(t *testing.T) {
	in := input(job(1, 7, 1, "test", "failure"), job(2, 8, 1, "test", "success"), job(3, 7, 1, "lint", "failure"))
	in.Workflows = []Workflow{workflow(7, "CI", "push", "failure"), workflow(8, "Nightly", "push", "success")}
	got := Judge(in)
	if d := cmp.Diff(map[int64]string{1: "test (CI)", 3: "lint"}, got.Red); d != "" {
		t.Error(d)
	}
	in.Base, in.BaseWorkflows = []Run{job(8, 3, 1, "test", "success"), job(9, 4, 1, "test", "success")},
		[]Workflow{workflow(3, "Nightly", "push", "success"), workflow(4, "CI", "push", "success")}
	if d := cmp.Diff(map[int64]int64{1: 9}, in.GreenOnBase(1, 3)); d != "" {
		t.Errorf("their like on the base: %s", d)
	}
}

// A commit with a red required job is never green, in any order of runs and with any other checks, unless a later
// attempt of that job passed, or a later attempt of its run without it did, or the job of a later run of its workflow
// for the same event.
func TestNoRedIsOutdone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		in.Base, in.BaseWorkflows, in.Reruns, in.Settings.Required = nil, nil, 0, nil
		bad := job(rapid.Int64Range(1, 120).Draw(t, "red id"), 101, 0, "test", "failure")
		bad.SuiteID = 1
		bad.Attempt = rapid.IntRange(1, 3).Draw(t, "red attempt")
		if rapid.Bool().Draw(t, "twins alone") {
			in.Runs = nil
		}
		for range rapid.IntRange(0, 4).Draw(t, "twins") {
			twin := job(rapid.Int64Range(1, 200).Draw(t, "twin id"), 0, 0, "test", rapid.SampledFrom([]string{"success",
				"success", "success", "skipped", "cancelled"}).Draw(t, "twin conclusion"))
			twin.SuiteID = rapid.Int64Range(1, 2).Draw(t, "twin suite")
			twin.WorkflowRun = 100 + twin.SuiteID
			twin.Attempt = rapid.SampledFrom([]int{NoAttempt, 1, 2, 3}).Draw(t, "twin attempt")
			in.Runs = append(in.Runs, twin)
		}
		for i := range in.Workflows {
			if w := &in.Workflows[i]; w.ID == bad.WorkflowRun && (w.Attempt == 0 || w.Attempt > bad.Attempt) {
				w.Attempt = bad.Attempt
			}
		}
		ids := map[int64]bool{bad.ID: true}
		others := []Run{bad}
		for _, r := range in.Runs {
			sameJob := r.criterion() == bad.criterion()
			if ids[r.ID] || sameJob && r.Attempt > bad.Attempt || succeedsLater(in, r, bad) {
				continue // it is a later attempt of the job, or of a later run for the same event
			}
			ids[r.ID] = true
			others = append(others, r)
		}
		in.Runs = others
		if len(in.Required) > 0 {
			in.Required = append(in.Required, Required{Name: "test"})
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rng.Shuffle(len(in.Runs), func(i, j int) { in.Runs[i], in.Runs[j] = in.Runs[j], in.Runs[i] })
		if got := Judge(in); got.Verdict == sia.VerdictGreen || got.Verdict == sia.VerdictTampered {
			t.Fatalf("%s with the red job %+v among\n%s\n%v", got.Verdict, bad, runsOf(in.Runs), got.Explain)
		}
	})
}

// succeedsLater reports whether a run succeeded in a later run of the workflow of another, for the same event.
func succeedsLater(in Input, r, of Run) bool {
	var a, b Workflow
	for _, w := range in.Workflows {
		if w.ID == r.WorkflowRun {
			a = w
		}
		if w.ID == of.WorkflowRun {
			b = w
		}
	}
	return r.Conclusion == "success" && r.Name == of.Name && r.ID > of.ID && a.ID != b.ID && a.Path == b.Path &&
		a.Event == b.Event
}

func runsOf(rs []Run) string {
	var b strings.Builder
	for _, r := range rs {
		fmt.Fprintf(&b, "%d %s/%d %s: %s, attempt %d\n", r.ID, r.App, r.SuiteID, r.Name, r.Conclusion, r.Attempt)
	}
	return b.String()
}

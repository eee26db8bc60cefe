package gate

import (
	"testing"

	"github.com/sia-bot/sia/sia"
)

// More cases that look green on GitHub, by classes of false passes that occurred.
func TestLooksGreen(t *testing.T) {
	path := ".github/workflows/CI.yml"
	ci := workflow(7, "CI", "pull_request", "success")
	red := workflow(7, "CI", "pull_request", "failure")
	test, lint := job(1, 7, 1, "test", "success"), job(2, 8, 1, "lint", "success")
	other := workflow(8, "Lint", "pull_request", "success")
	with := func(in Input, f func(*Input)) Input { f(&in); return in }
	before := func(in Input, rs ...sia.Reported) Input { in.Earlier = rs; return in }
	of := func(name string) sia.Reported {
		return sia.Reported{Name: name, App: actionsApp, Workflow: path, Event: "pull_request"}
	}
	judgeAll(t, []row{
		// B: the state of a workflow run
		{"a reusable workflow's only job failed to be found", input(lint).with(workflow(7, "CI", "pull_request",
			"startup_failure"), other), sia.VerdictRed, "CI ended as startup_failure"},
		{"the run is red by a job that continue-on-error lets pass, and says success", input(job(1, 7, 1, "test", "failure"),
			lint).with(ci, other), sia.VerdictRed, "test failed"},
		{"a run that was re-requested and has made no job yet", input(test).with(ci.unended("queued")),
			sia.VerdictBlocked, "CI"},
		// C: skipped and neutral
		{"a required check is neutral, and nothing else ran", input(run(1, "scan", "neutral")).requiring("scan"),
			sia.VerdictNone, "Nothing ran"},
		{"every leg of a matrix was skipped", input(job(1, 7, 1, "test (1)", "skipped"), job(2, 7, 1, "test (2)",
			"skipped")).with(ci), sia.VerdictNone, "Nothing ran"},
		{"required and skipped, beside a leg that timed out", input(job(1, 7, 1, "ok", "skipped"), job(3, 7, 1, "test (1)",
			"timed_out"), lint).with(red, other).requiring("ok", "lint"), sia.VerdictRed, "timed out"},
		{"required and skipped, beside a leg that was cancelled", input(job(1, 7, 1, "ok", "skipped"), job(3, 7, 1,
			"test (1)", "cancelled"), lint).with(red, other).requiring("ok", "lint"), sia.VerdictRerun, ""},
		{"a skipped job of a reusable workflow, beside its red sibling", input(job(1, 7, 1, "call / ok", "skipped"),
			job(3, 7, 1, "call / test", "failure"), lint).with(red, other).requiring("call / ok", "lint"), sia.VerdictRed, ""},
		// D: missing checks
		{"a status gave way to a check run of its name", before(input(run(1, "ci", "success")), sia.Reported{Name: "ci"}),
			sia.VerdictBlocked, "ci"},
		{"a check run gave way to a status of its name", before(with(input(run(1, "unit", "success")), func(in *Input) {
			in.Statuses = []Status{status("test", "success")}
		}), sia.Reported{Name: "test", App: "ci"}), sia.VerdictBlocked, "test"},
		{"the app was uninstalled", before(input(run(1, "unit", "success")), sia.Reported{Name: "cover", App: "codecov"}),
			sia.VerdictBlocked, "cover"},
		{"the workflow was disabled", before(input(lint).with(other), of("test")), sia.VerdictBlocked, "test"},
		{"a leg of a matrix is gone", before(input(job(1, 7, 1, "test (1)", "success")).with(ci), of("test (1)"),
			of("test (2)")), sia.VerdictBlocked, "test (2)"},
		{"required, and its app was uninstalled", with(input(run(1, "unit", "success")), func(in *Input) {
			in.Required = []Required{{Name: "cover", App: 9}}
		}), sia.VerdictBlocked, "cover did not appear"},
		// E: rules
		{"a status of a required app's name by a person", with(input(run(1, "unit", "success")), func(in *Input) {
			in.Statuses = []Status{status("cover", "success")}
			in.Required = []Required{{Name: "cover", App: 9}}
		}), sia.VerdictBlocked, "cover did not appear"},
		{"a red status beside a green check run of the required name", with(input(run(1, "test", "success")).requiring(
			"test"), func(in *Input) { in.Statuses = []Status{status("test", "failure")} }), sia.VerdictRed, "test"},
		{"a required workflow ran on a schedule", with(input(test).with(workflow(7, "CI", "schedule", "success")),
			func(in *Input) { in.Required = []Required{{Workflow: path}} }), sia.VerdictBlocked, "did not appear"},
		{"a required workflow whose one job was skipped", with(input(job(1, 7, 1, "test", "skipped")).with(ci),
			func(in *Input) { in.Required = []Required{{Workflow: path}} }), sia.VerdictNone, ""},
		{"a required name in another case", input(run(1, "Test", "success")).requiring("test"), sia.VerdictBlocked,
			"test did not appear"},
		{"only a deployment's status is green", with(input(), func(in *Input) {
			in.Statuses = []Status{status("license/cla", "success")}
		}), sia.VerdictNone, "Nothing ran the code"},
	})
}

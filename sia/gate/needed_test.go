package gate

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
)

// sumCI is a workflow with a job that aggregates only its direct needs, and always runs.
const sumCI = `on: pull_request
jobs:
  build: {steps: [{uses: actions/checkout@v4}, {run: make}]}
  test: {needs: [build], steps: [{uses: actions/checkout@v4}, {run: make test}]}
  docs: {steps: [{uses: actions/checkout@v4}, {run: make docs}]}
  ci-ok: {needs: [test], if: always(), steps: [{run: 'test "${{ needs.test.result }}" != failure'}]}
`

// of adds the workflow files of the commit.
func (in Input) of(files ...string) Input {
	in.FilesKnown = true
	for _, text := range files {
		in.Files = append(in.Files, ReadFile(ciPath, []byte(text)))
	}
	return in
}

// The needs of a required job are required as well: GitHub looks only at the required name.
func TestNeededJobs(t *testing.T) {
	ci := func(conclusion string) Workflow { return workflow(7, "CI", "pull_request", conclusion) }
	jobs := func(build, test, ok string) Input {
		return input(job(1, 7, 1, "build", build), job(2, 7, 1, "test", test), job(3, 7, 1, "ci-ok", ok),
			job(4, 7, 1, "docs", "failure")).with(ci("failure")).of(sumCI).requiring("ci-ok")
	}
	on := func(in Input, f func(*Input)) Input { f(&in); return in }
	class := func(in Input, run int, c string) Input {
		return on(in, func(in *Input) { in.Runs[run] = in.Runs[run].class(c) })
	}
	judgeAll(t, []row{
		{"all is green but what it does not need", jobs("success", "success", "success"), sia.VerdictGreen,
			"3 required checks are green"},
		{"it is green, and what it needs is red", jobs("success", "failure", "success"), sia.VerdictRed, "test failed"},
		{"it is green, and what that needs is red", jobs("failure", "skipped", "success"), sia.VerdictRed, "build failed"},
		{"it is green, and what it needs was cancelled", jobs("success", "cancelled", "success"), sia.VerdictRerun,
			"test was cancelled"},
		{"it is green, and what it needs ran too long", class(jobs("success", "cancelled", "success"), 1, "timeout"),
			sia.VerdictRed, "test timed out"},
		{"it is green, and all that it needs was skipped", jobs("skipped", "skipped", "success"), sia.VerdictNone,
			"Nothing ran the code"},
		{"it is red, for what it needs met bad weather", class(jobs("success", "failure", "failure"), 1, "network"),
			sia.VerdictRerun, "test failed for a reason outside the code"},
		{"it is red, for what it needs was never started", class(jobs("success", "failure", "failure"), 1, notStarted),
			sia.VerdictBlocked, "test was never started"},
		{"it is red by itself", jobs("success", "success", "failure"), sia.VerdictRed, "ci-ok failed"},
		{"its file was not read", on(jobs("success", "failure", "success"), func(in *Input) { in.FilesKnown = false }),
			sia.VerdictGreen, ""},
		{"its file is another repository's", on(jobs("success", "failure", "success"), func(in *Input) {
			in.Workflows[0].Repository = "acme/rules"
		}), sia.VerdictGreen, ""},
		{"a leg of a matrix that it needs is red", input(job(1, 7, 1, "test (1)", "success"), job(2, 7, 1, "test (2)",
			"failure"), job(3, 7, 1, "ci-ok", "success")).with(ci("failure")).of(sumCI).requiring("ci-ok"), sia.VerdictRed,
			"test (2) failed"},
		{"it is of another run", input(job(1, 7, 1, "build", "success"), job(2, 7, 1, "test", "success"),
			job(3, 7, 1, "ci-ok", "success"), job(4, 8, 1, "test", "failure")).with(ci("success"), workflow(8, "Nightly",
			"pull_request", "failure")).of(sumCI).requiring("ci-ok"), sia.VerdictGreen, ""},
		{"it is red on the base, too", jobs("success", "failure", "failure").onBase([]Run{job(11, 5, 1, "test", "failure"),
			job(12, 5, 1, "ci-ok", "failure")}, workflow(5, "CI", "push", "failure")), sia.VerdictBlocked,
			"ci-ok is red on the base"},
	})
}

// A job that only aggregates is not blamed for others, and not doubted or counted as flaky in addition to them.
func TestSumIsNotBlamed(t *testing.T) {
	world := input(job(1, 7, 1, "build", "success"), job(2, 7, 1, "test", "failure").class("test_failure"),
		job(3, 7, 1, "ci-ok", "failure")).with(workflow(7, "CI", "pull_request", "failure")).of(sumCI)
	for name, in := range map[string]Input{"it alone is required": world.requiring("ci-ok"), "everything is": world} {
		known := unknown(in)
		var logs []int64
		for n := known.Needs(); !n.None(); n = known.Needs() {
			known = supply(known, in, n)
			logs = append(logs, n.Logs...)
		}
		if !slices.Equal(logs, []int64{2}) {
			t.Errorf("%s: the logs of %v are read", name, logs)
		}
		got := Judge(known)
		if d := cmp.Diff(map[int64]string{2: "test"}, got.Red); d != "" || !slices.Equal(got.Follow, []string{"ci-ok"}) {
			t.Errorf("%s: red %v, and for others %v", name, got.Red, got.Follow)
		}
	}
	flaky := input(job(1, 7, 1, "build", "success"), job(2, 7, 1, "test", "failure"), job(3, 7, 1, "ci-ok", "failure"),
		job(4, 7, 2, "test", "success"), job(5, 7, 2, "ci-ok", "success")).with(workflow(7, "CI", "pull_request",
		"success")).of(sumCI)
	if d := cmp.Diff([]GreenCheck{{"build", false}, {"test", true}}, flaky.GreenChecks()); d != "" {
		t.Error(d)
	}
}

// The allocations for a workflow run grow with the number of jobs that one job needs, and not with a higher power.
func TestManyNeededJobs(t *testing.T) {
	allocations := func(jobs int) float64 {
		file, all := File{Path: ciPath, Triggers: []Trigger{{Event: "pull_request"}}}, Job{Name: "all"}
		runs := []Run{job(1, 7, 1, "all", "success")}
		for i := range jobs {
			name := fmt.Sprintf("test %d", i)
			file.Jobs, all.Needs = append(file.Jobs, Job{Name: name, Code: true}), append(all.Needs, name)
			runs = append(runs, job(int64(i+2), 7, 1, name, "success"))
		}
		file.Jobs = append(file.Jobs, all)
		in := input(runs...).with(workflow(7, "CI", "pull_request", "success")).requiring("all")
		in.Files, in.FilesKnown = []File{file}, true
		if got := Judge(in); got.Verdict != sia.VerdictGreen {
			t.Fatalf("%s: %v", got.Verdict, got.Explain)
		}
		return testing.AllocsPerRun(1, func() { Judge(in) })
	}
	if few, many := allocations(10), allocations(100); many > 15*few {
		t.Errorf("10 jobs take %.0f allocations, and 100 take %.0f", few, many)
	}
}

package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
)

// callPath is a reusable workflow of the repository, which ci.yml calls.
const callPath = ".github/workflows/call.yml"

const callingCI = `on: pull_request
jobs:
  setup: {steps: [{uses: actions/checkout@v4}, {run: make}]}
  suite: {needs: [setup], uses: ./.github/workflows/call.yml, strategy: {matrix: {v: [1, 2]}}}
  rules: {uses: acme/rules/.github/workflows/rules.yml@v1}
  ok: {needs: [suite], if: always(), steps: [{run: 'test "${{ needs.suite.result }}" != failure'}]}
  all: {needs: [suite, rules], if: always(), steps: [{run: 'test "${{ toJSON(needs) }}" != failure'}]}
`

const calledCI = `on: workflow_call
jobs:
  unit: {strategy: {matrix: {os: [a, b]}}, steps: [{uses: actions/checkout@v4}, {run: make unit}]}
  docs: {steps: [{run: echo}]}
  ok: {needs: [unit], if: always(), steps: [{run: 'test "${{ needs.unit.result }}" != failure'}]}
  drafts: {if: github.event.pull_request.draft == false, steps: [{uses: actions/checkout@v4}, {run: make e2e}]}
  asked: {if: inputs.e2e, steps: [{uses: actions/checkout@v4}, {run: make e2e}]}
`

// calling returns a head with jobs of ci.yml, such as "suite / docs success".
func calling(jobs ...string) Input {
	var runs []Run
	conclusion := "success"
	for i, j := range jobs {
		at := strings.LastIndex(j, " ")
		if j[at+1:] == "failure" {
			conclusion = "failure"
		}
		runs = append(runs, job(int64(i+1), 7, 1, j[:at], j[at+1:]))
	}
	in := input(runs...).with(workflow(7, "CI", "pull_request", conclusion))
	in.FilesKnown, in.Final = true, true
	in.Files = ExpandCalls([]File{ReadFile(ciPath, []byte(callingCI)), ReadFile(callPath, []byte(calledCI))})
	return in
}

// Calls of a repository's own reusable workflows are expanded, those of others are not.
func TestReusableWorkflows(t *testing.T) {
	earlier := func(in Input, name string) Input {
		in.Earlier = []sia.Reported{{Name: name, App: actionsApp, Workflow: ciPath, Event: "pull_request"}}
		return in
	}
	judgeAll(t, []row{
		{"all is green", calling("setup success", "suite (1) / unit (a) success", "suite (2) / unit (a) success",
			"ok success").requiring("ok"), sia.VerdictGreen, "4 required checks are green"},
		{"who sums up needs what is called", calling("setup success", "suite (1) / unit (a) success",
			"suite (2) / unit (a) failure", "ok success").requiring("ok"), sia.VerdictRed, "suite (2) / unit (a) failed"},
		{"and what the caller needs", calling("setup failure", "suite skipped", "ok success").requiring("ok"),
			sia.VerdictRed, "setup failed"},
		{"a job that is called needs what the caller does", calling("setup failure", "suite / unit success").requiring(
			"suite / unit"), sia.VerdictRed, "setup failed"},
		{"within, too", calling("setup success", "suite / unit (a) failure", "suite / docs failure",
			"suite / ok success").requiring("suite / ok"), sia.VerdictRed, "suite / unit (a) failed"},
		{"what it does not need there does not count", calling("setup success", "suite / unit (a) success",
			"suite / docs failure", "suite / ok success").requiring("suite / ok"), sia.VerdictGreen, ""},
		{"a caller's job of another's is needed as a whole", calling("setup success", "suite / unit (a) success",
			"rules / x failure", "all success").requiring("all"), sia.VerdictRed, "rules / x failed"},
		{"skipped within another's, beside what failed there", calling("setup success", "rules / x failure",
			"rules / y skipped").requiring("rules / y", "setup"), sia.VerdictRed, "rules / x failed"},
		{"and not beside what failed elsewhere", calling("setup success", "suite / docs failure",
			"rules / y skipped").requiring("rules / y", "setup"), sia.VerdictGreen, "1 skipped"},
		{"what is called runs the code, or does not", calling("suite / docs success"), sia.VerdictNone, "Nothing ran the"},
		{"a guard within passes over drafts", calling("suite / unit (a) success", "suite / drafts skipped"),
			sia.VerdictBlocked, "passes over drafts"},
		{"it ran before, and what it is called with decides", earlier(calling("suite / unit (a) success",
			"suite / asked skipped"), "suite / asked"), sia.VerdictGreen, "1 skipped"},
		{"required, and the caller was skipped", calling("setup success", "suite skipped").requiring("suite (1) / unit (a)",
			"setup"), sia.VerdictBlocked, "suite was skipped as a whole, and then GitHub reports it without"},
	})
}

// The expansion of recursive or too many calls is bounded.
func TestCallsWithoutEnd(t *testing.T) {
	self := "on: workflow_call\njobs:\n"
	for _, key := range strings.Split("a b c d e f g h", " ") {
		self += "  " + key + ": {uses: ./.github/workflows/call.yml}\n"
	}
	files := ExpandCalls([]File{ReadFile(callPath, []byte(self))})
	if n := len(files[0].Jobs); n < 8 || n > 2*maxJobs {
		t.Errorf("%d jobs", n)
	}
	if got := files[0].Jobs[0].Calls; got != callPath {
		t.Errorf("the last of a row calls %q", got)
	}
	if got := ReadFile(ciPath, []byte(callingCI)).Calls(); !slices.Equal(got, []string{callPath}) {
		t.Errorf("calls %q", got)
	}
}

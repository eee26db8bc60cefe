package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
)

// A later run of a workflow for the same event, as when a label is added, stands for an earlier one like a further
// attempt.
// https://github.com/everruns/everruns/pull/3739
func TestLaterRunReplacesRed(t *testing.T) {
	again := func(first, then string, change ...func(*Input)) Input {
		in := input(job(1, 7, 1, "test", "success"), job(2, 8, 1, "e2e", first), job(3, 9, 1, "e2e", then)).
			requiring("test", "e2e")
		in.Workflows = []Workflow{workflow(7, "CI", "push", "success"), workflow(8, "Labels", "pull_request", "failure"),
			workflow(9, "Labels", "pull_request", "success")}
		in.WorkflowsKnown = true
		for _, c := range change {
			c(&in)
		}
		return in
	}
	named := func(name string) func(*Input) {
		return func(in *Input) {
			in.Runs[1].Name, in.Runs[2].Name = name, name
			in.Required[1].Name = name
		}
	}
	open := func(in *Input) {
		in.Runs[2].Status, in.Runs[2].Conclusion = "in_progress", ""
		in.Workflows[2].Status, in.Workflows[2].Conclusion = "in_progress", ""
	}
	for _, c := range []struct {
		name  string
		in    Input
		want  sia.GateVerdict
		flaky bool
		says  string
	}{
		{"it succeeded", again("failure", "success"), sia.VerdictGreen, true, "e2e is flaky"},
		{"it timed out before", again("timed_out", "success"), sia.VerdictGreen, true, ""},
		{"a check of a label", again("failure", "success", named("require-label")), sia.VerdictGreen, false, ""},
		{"the jobs in the other order", again("success", "failure"), sia.VerdictRed, false, "e2e (2) failed"},
		{"it runs", again("failure", "", open), sia.VerdictPending, false, "has not finished"},
		{"it was skipped", again("failure", "skipped"), sia.VerdictRed, false, "e2e (1) failed"},
		{"it is neutral", again("failure", "neutral"), sia.VerdictRed, false, "e2e (1) failed"},
		{"it was cancelled", again("failure", "cancelled", func(in *Input) { in.Workflows[2].Conclusion = "cancelled" }),
			sia.VerdictRed, false, "failed"},
		{"for another event", again("failure", "success", func(in *Input) { in.Workflows[2].Event = "push" }),
			sia.VerdictRed, false, "failed"},
		{"of another workflow", again("failure", "success", func(in *Input) {
			in.Workflows[2].Path = ".github/workflows/x.yml"
		}), sia.VerdictRed, false, "failed"},
		{"of another repository's file", again("failure", "success", func(in *Input) {
			in.Workflows[2].Repository = AnotherRepository
		}), sia.VerdictRed, false, "failed"},
		{"a rule requires the workflow", again("failure", "success", func(in *Input) {
			in.Required = []Required{{Workflow: ".github/workflows/Labels.yml"}, {Name: "test"}}
		}), sia.VerdictGreen, true, ""},
		{"it could not start, and no job says so", again("failure", "success", func(in *Input) {
			in.Runs = slices.Delete(in.Runs, 1, 2)
			in.Required = nil
			in.Workflows[1].Conclusion = "startup_failure"
		}), sia.VerdictGreen, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, says := Judge(c.in), ""
			if says = strings.Join(got.Explain, "\n"); got.Verdict != c.want || !strings.Contains(says, c.says) {
				t.Errorf("%s: %s", got.Verdict, says)
			}
			flaky := slices.ContainsFunc(c.in.GreenChecks(), func(g GreenCheck) bool { return g.Flipped })
			if flaky != c.flaky {
				t.Errorf("flaky %v: %+v", flaky, c.in.GreenChecks())
			}
		})
	}
}

// GitHub runs no workflow again that it generates, and may refuse others. A person is asked then, and may waive it.
// https://github.com/github/codeql-action/issues/3465
func TestNobodyRunsItAgain(t *testing.T) {
	const (
		onlyCommit = "GitHub lets nobody run it again; a new commit starts it"
		refused    = "GitHub refused to run it again"
	)
	codeQL := func(r Run, change ...func(*Input)) Input {
		in := input(job(1, 7, 1, "test", "success"), r)
		w := workflow(8, "CodeQL", "dynamic", "failure")
		w.Path = "dynamic/github-code-scanning/codeql"
		in.Workflows, in.WorkflowsKnown = []Workflow{workflow(7, "CI", "push", "success"), w}, true
		in.DoubtKnown = true
		in.Doubt = Doubt{Good: 0.5, Other: 0.5, Attempt: 9}
		for _, c := range change {
			c(&in)
		}
		return in
	}
	analyze := func(conclusion string) Run { return job(2, 8, 1, "Analyze (go)", conclusion) }
	waived := func(names ...string) func(*Input) { return func(in *Input) { in.Waived = names } }
	file := func(in *Input) { in.Workflows[1] = workflow(8, "Scan", "pull_request", "failure") }
	for _, c := range []struct {
		name string
		in   Input
		want sia.GateVerdict
		says string
	}{
		{"failed for another reason", codeQL(analyze("failure").class("network")), sia.VerdictBlocked, onlyCommit},
		{"was cancelled", codeQL(analyze("cancelled")), sia.VerdictBlocked, onlyCommit},
		{"is stale", codeQL(analyze("stale")), sia.VerdictBlocked, onlyCommit},
		{"after other re-runs", codeQL(analyze("cancelled"), func(in *Input) { in.Reruns = 3 }), sia.VerdictBlocked,
			onlyCommit},
		{"a person goes on without", codeQL(analyze("cancelled"), waived("Analyze (go)")), sia.VerdictGreen, ""},
		{"was cancelled without a job", codeQL(run(3, "lint", "success"), func(in *Input) {
			in.Workflows[1].Conclusion = "cancelled"
		}), sia.VerdictBlocked, onlyCommit},
		{"and a person goes on without", codeQL(run(3, "lint", "success"), func(in *Input) {
			in.Workflows[1].Conclusion = "cancelled"
			in.Waived = []string{"CodeQL"}
		}), sia.VerdictGreen, ""},
		{"is red, perhaps by chance", codeQL(analyze("failure")), sia.VerdictRed, "Analyze (go) failed"},
		{"of a file", codeQL(analyze("cancelled"), file), sia.VerdictRerun, "was cancelled"},
		{"of a file, red perhaps by chance", codeQL(analyze("failure"), file), sia.VerdictRerun, "run again once"},
		{"of a file, and GitHub refused", codeQL(analyze("cancelled"), file,
			func(in *Input) { in.Unrepeatable = []int64{8} }), sia.VerdictBlocked, refused},
		{"of a file, red perhaps by chance, and GitHub refused", codeQL(analyze("failure"), file,
			func(in *Input) { in.Unrepeatable = []int64{8} }), sia.VerdictRed, "Analyze (go) failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Judge(c.in)
			says := strings.Join(got.Explain, "\n")
			if got.Verdict != c.want || !strings.Contains(says, c.says) {
				t.Errorf("%s: %s", got.Verdict, says)
			}
			for _, o := range got.Blocked {
				if !o.Waivable {
					t.Errorf("nobody may go on without %s", o.Check)
				}
			}
		})
	}
}

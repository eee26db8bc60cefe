package gate

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
)

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

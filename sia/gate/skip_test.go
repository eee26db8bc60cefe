package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
)

// A job that was skipped by a guard, and not because of the change, is missed: GitHub shows it as a success.
func TestSkippedByAGuard(t *testing.T) {
	const ready = "on: {pull_request: {types: [opened, synchronize, ready_for_review]}}"
	const checkout = "steps: [{uses: actions/checkout@v4}, {run: make test}]"
	// on returns a head with a green lint check and a test job that was skipped by the file's condition.
	on := func(triggers, test string) Input {
		in := input(job(1, 7, 1, "lint", "success"), job(2, 7, 1, "test", "skipped")).with(workflow(7, "CI", "pull_request",
			"success")).of(triggers + "\njobs:\n  lint: {" + checkout + "}\n  test: {" + test + "}\n  changes: {}\n" +
			"  build: {if: needs.changes.outputs.src == 'true'}\n")
		in.Final = true
		return in
	}
	pull := func(test string) Input { return on("on: pull_request", test) }
	ran := ciJob("test", "pull_request")
	earlier := func(in Input) Input { in.Earlier = []sia.Reported{ran}; return in }
	merged := func(in Input) Input { in.History.Merged = [][]sia.Reported{{ran}, {ran}, {}}; return in }
	change := func(in Input, f func(*Input)) Input { f(&in); return in }
	young := func(in Input) Input { in.Since = noon.Add(-time.Minute); return in }
	const drafts = "if: github.event.pull_request.draft == false, " + checkout
	const bots = "if: github.event.pull_request.user.type != 'Bot', " + checkout
	const labels = "if: 'contains(github.event.pull_request.labels.*.name, 1)', " + checkout
	const paths = "needs: changes, if: needs.changes.outputs.src == 'true', " + checkout
	judgeAll(t, []row{
		{"nothing says why, and it never ran", pull(labels), sia.VerdictGreen, "1 required check is green, 1 skipped"},
		{"it ran on an earlier commit", earlier(pull(labels)), sia.VerdictBlocked,
			"test was skipped; it ran on an earlier commit of this task"},
		{"it ran on merged pull requests", merged(pull(labels)), sia.VerdictBlocked,
			"test was skipped; it ran on 2 of the last 2 merged pull requests"},
		{"a later run may come", young(merged(pull(labels))), sia.VerdictPending, "test was skipped"},
		{"it ran on the base alone, as a deployment", change(pull(labels), func(in *Input) {
			in.Runs[1].WorkflowRun, in.Runs[1].SuiteID = 8, 1008
			in.Workflows = append(in.Workflows, workflow(8, "CI", "push", "success"))
			in.Files[0].Triggers = append(in.Files[0].Triggers, Trigger{Event: "push"})
			in.History.Base = [][]sia.Reported{{ciJob("test", "push")}}
		}), sia.VerdictGreen, ""},
		{"it ran for another run of the workflow on this commit", change(earlier(pull(labels)), func(in *Input) {
			in.Runs = append(in.Runs, job(3, 6, 1, "test", "success"))
			in.Workflows = append(in.Workflows, workflow(6, "CI", "pull_request", "success"))
		}), sia.VerdictGreen, ""},
		{"a person said that it need not run", change(earlier(pull(labels)), func(in *Input) {
			in.Waived = []string{"test"}
		}), sia.VerdictGreen, "1 skipped"},
		{"the change touches nothing of it", merged(earlier(pull(paths))), sia.VerdictGreen, "1 skipped"},
		{"the change touches nothing of what it needs", earlier(pull("needs: build, " + checkout)), sia.VerdictGreen, ""},
		{"it runs no code", earlier(pull("steps: [{run: echo}]")), sia.VerdictGreen, ""},
		{"it is a job of a reusable workflow", change(earlier(pull("uses: ./.github/workflows/x.yml")), func(in *Input) {
			in.Runs[1].Name, in.Earlier[0].Name = "test / unit", "test / unit"
		}), sia.VerdictGreen, ""},
		{"nobody can read its file", change(earlier(pull(labels)), func(in *Input) {
			in.Files = []File{{Path: ciPath, Unread: true}}
		}), sia.VerdictBlocked, "it ran on an earlier"},
		{"another app says that it skipped it", change(earlier(pull(labels)), func(in *Input) {
			in.Runs[1] = run(2, "test", "skipped")
			in.Earlier = []sia.Reported{{Name: "test", App: "ci"}}
		}), sia.VerdictGreen, ""},
		{"nothing is green", change(earlier(pull(labels)), func(in *Input) { in.Runs = in.Runs[1:] }), sia.VerdictNone,
			"test was skipped"},
		{"a rule requires it", earlier(pull(labels)).requiring("lint", "test"), sia.VerdictBlocked, "it ran on an earlier"},
		{"a rule requires another", earlier(pull(labels)).requiring("lint"), sia.VerdictGreen, ""},

		{"drafts are passed over, and nothing starts it afterwards", pull(drafts), sia.VerdictBlocked,
			"does not run when one is marked ready (ready_for_review)"},
		{"the same, and it ran before", merged(pull(drafts)), sia.VerdictBlocked, "ready_for_review"},
		{"drafts are passed over, and it starts again", on(ready, drafts), sia.VerdictBlocked,
			"test was skipped; its condition passes over drafts"},
		{"on a draft, what runs when it is ready is waited for no longer", change(young(on(ready, drafts)),
			func(in *Input) { in.Draft, in.Final = true, false }), sia.VerdictBlocked, "its condition passes over drafts"},
		{"drafts and what the change does not touch are passed over", earlier(on(ready,
			"needs: changes, if: needs.changes.outputs.src == 'true' && !github.event.pull_request.draft, "+checkout)),
			sia.VerdictGreen, ""},
		{"bots are passed over", pull(bots), sia.VerdictBlocked, "test was skipped; its condition asks who opened the pull"},
		{"a rule requires who sums it up", change(pull(drafts), func(in *Input) {
			in.Runs = append(in.Runs, job(3, 7, 1, "ci-ok", "success"))
			in.Files[0].Jobs = append(in.Files[0].Jobs, Job{Name: "ci-ok", Needs: []string{"lint", "test"}})
		}).requiring("ci-ok"), sia.VerdictBlocked, "ready_for_review"},
	})
	draft := pull(drafts)
	draft.Draft, draft.Final = true, false
	if got := Judge(draft); !got.Guarded || !got.Blocked[0].Missed {
		t.Errorf("on a draft: guarded %t, %+v", got.Guarded, got.Blocked)
	}
	for _, c := range Judge(pull(labels)).Checks {
		if c.Name == "test" && (c.Colour != sia.Skipped || strings.Contains(c.Why, "green")) {
			t.Errorf("shown as %+v", c)
		}
	}
}

package oracle_test

import (
	"slices"
	"testing"

	"github.com/sia-bot/sia/sim/ghsim/oracle"
)

// failure, timed_out and startup_failure are red; stale, cancelled and action_required wait for somebody; running ones
// are waited for.
func TestConclusions(t *testing.T) {
	beside := func(conclusion string) func(*world) {
		return func(w *world) {
			w.run(head, "pull_request", "lint success")
			of(w.run(head, "pull_request", "test "+conclusion), "tests", ".github/workflows/tests.yml")
		}
	}
	try(t, []verdict{
		{says: "failure is red", state: beside("failure"), red: []string{"test"}},
		{says: "timed_out is red", state: beside("timed_out"), red: []string{"test"}},
		{says: "startup_failure is red", state: beside("startup_failure"), red: []string{"test"}},
		{says: "stale is asked to run again", state: beside("stale"), why: "stale"},
		{says: "action_required asks", state: beside("action_required"), why: "somebody has to act"},
		{says: "cancelled asks", state: beside("cancelled"), why: "cancelled"},
		{says: "what runs without end is not green", state: beside(""), why: "has not completed"},
		{says: "skipped counts as green beside something that ran", state: beside("skipped"), green: true},
		{says: "neutral counts as green beside something that ran", state: beside("neutral"), green: true},
		{says: "a job that was never started is not green, and nobody's fault", state: beside("unstarted"),
			why: "never started"},
	})
}

// skipped and neutral count as green only if another check really ran and succeeded, and skipped only when nothing that
// it needed failed.
func TestSkipped(t *testing.T) {
	try(t, []verdict{
		{says: "a draft guard skips everything: nothing was validated", state: func(w *world) {
			w.run(head, "pull_request", "test skipped", "lint skipped")
		}, why: "No green check"},
		{says: "neutral alone validates nothing", state: func(w *world) {
			w.check("linter", head, "hints", "neutral")
		}, why: "No green check"},
		{says: "ci-ok is skipped because test failed, lint is green", state: func(w *world) {
			w.run(head, "pull_request", "test failure", "lint success", "ci-ok skipped")
		}, tell: tells(needs("ci-ok", "lint")), why: `"ci-ok" was skipped, and "test" of the same run is red`},
		{says: "skipped while a job of the same run was cancelled", state: func(w *world) {
			w.run(head, "pull_request", "test cancelled", "lint success", "ci-ok skipped")
		}, tell: tells(needs("ci-ok", "lint")), why: `"test" of the same run is not green`},
		{says: "skipped beside a job that failed and one that was cancelled for it", state: func(w *world) {
			w.run(head, "pull_request", "build-1 cancelled", "build-2 failure", "lint success", "ci-ok skipped")
		}, tell: tells(needs("ci-ok", "lint")), why: `"build-2" of the same run is red`},
		{says: "skipped while a job of the same run was never started", state: func(w *world) {
			w.run(head, "pull_request", "test unstarted", "lint success", "ci-ok skipped")
		}, tell: tells(needs("ci-ok", "lint")), why: "never started"},
		{says: "skipped while a job of the same run was never made", state: func(w *world) {
			ended(w.run(head, "pull_request", "lint success", "ci-ok skipped"), "failure")
		}, tell: tells(needs("ci-ok", "lint")), why: `"ci-ok" was skipped, and its run ended as failure`},
		{says: "skipped beside a red job of another run", state: func(w *world) {
			w.run(head, "pull_request", "lint success", "deploy skipped")
			of(w.run(head, "pull_request", "nightly failure"), "nightly", ".github/workflows/nightly.yml")
		}, tell: tells(needs("deploy", "lint")), green: true},
		{says: "skipped in an attempt that was run again", state: func(w *world) {
			w.again(w.run(head, "pull_request", "test failure", "ci-ok skipped"), "test success", "ci-ok success")
		}, tell: tells(needs("ci-ok")), green: true},
	})
}

// A check skipped by a guard is not green, and one that the change decides is.
func TestPassedOver(t *testing.T) {
	on := func(test string, more ...string) func(*world) {
		return func(w *world) {
			w.files[head+ci] = "on: pull_request\njobs:\n  lint: {}\n  changes: {}\n  test: {" + test +
				"steps: [{uses: actions/checkout@v4}]}\n"
			w.run(earlier, "pull_request", "test failure")
			for _, job := range more {
				w.run(head, "pull_request", job)
			}
			w.run(head, "pull_request", "lint success", "test skipped")
		}
	}
	before := tells(after(earlier))
	try(t, []verdict{
		{says: "it ran on an earlier head", state: on(""), tell: before,
			why: `"test" was skipped, and it ran on an earlier head`},
		{says: "it has never run", state: on(""), green: true},
		{says: "it ran for another run of the head", state: on("", "test success"), tell: before, green: true},
		{says: "the change touches nothing of it", state: on("needs: changes, if: needs.changes.outputs.src == 1, "),
			tell: before, green: true},
		{says: "drafts are passed over", state: on("if: github.event.pull_request.draft == false, "),
			why: "its condition passes over drafts"},
		{says: "apps are passed over", state: on("if: github.event.pull_request.user.type != 'Bot', "),
			why: "its condition passes over drafts or apps"},
		{says: "a person says that it need not run", state: on(""), tell: append(slices.Clone(before), waives("test")),
			green: true},
		{says: "it is not required", state: on(""), tell: append(slices.Clone(before), needs("lint")), green: true},
	})
}

// A completed run is red or asks, unless its conclusion is success, neutral or skipped, or a red job explains it.
func TestWorkflowRuns(t *testing.T) {
	try(t, []verdict{
		{says: "an empty matrix makes no job and fails the run", state: func(w *world) {
			ended(w.run(head, "pull_request", "setup success"), "failure")
		}, red: []string{"ci"}, why: "no job says why"},
		{says: "a red job explains its run", state: func(w *world) {
			w.run(head, "pull_request", "setup success", "test failure")
		}, red: []string{"test"}},
		{says: "a startup failure makes no check run", state: func(w *world) {
			w.run(head, "push", "test success")
			ended(of(w.run(head, "pull_request"), "broken", ".github/workflows/broken.yml"), "startup_failure")
		}, red: []string{"broken"}},
		{says: "an approval that is missing asks", state: func(w *world) {
			w.run(head, "push", "test success")
			ended(of(w.run(head, "pull_request"), "held", ".github/workflows/held.yml"), "action_required")
		}, why: `"held" ended as action_required`},
		{says: "a run that has not completed is waited for, though its jobs have", state: func(w *world) {
			w.run(head, "pull_request", "setup success").Status = "in_progress"
		}, why: `"ci" has not completed`},
		{says: "a run that succeeded without a job is no evidence", state: func(w *world) {
			ended(w.run(head, "pull_request"), "success")
		}, why: "No green check"},
		{says: "of a run that a rule does not name, nothing counts", state: func(w *world) {
			ended(w.run(head, "pull_request", "test success"), "failure")
		}, tell: tells(needs("test")), green: true},
	})
}

// A check that is red on the base commit too is excused, but excuses alone are not green.
func TestExcuses(t *testing.T) {
	try(t, []verdict{
		{says: "the same job of the same workflow is red on the base", state: func(w *world) {
			w.run(base, "push", "test failure", "lint success")
			w.run(head, "pull_request", "test failure", "lint success")
		}, green: true},
		{says: "GitHub does not merge what a rule requires and the base has red", state: func(w *world) {
			w.run(base, "push", "test failure", "lint success")
			w.run(head, "pull_request", "test failure", "lint success")
			w.repo.Protection["main"] = []string{"test", "lint"}
		}, why: `"test" is red on the base, too, and a rule requires it`},
		{says: "a person takes that on", state: func(w *world) {
			w.run(base, "push", "test failure", "lint success")
			w.run(head, "pull_request", "test failure", "lint success")
			w.repo.Protection["main"] = []string{"test", "lint"}
		}, tell: tells(waives("test")), green: true},
		{says: "the job says another error than on the base", state: func(w *world) {
			w.run(base, "push", "test failure", "lint success").Jobs[0].Log = []byte("a.sh:1: error: no b\n")
			w.run(head, "pull_request", "test failure", "lint success").Jobs[0].Log = []byte("a.sh:1: error: no c\n")
		}, red: []string{"test"}},
		{says: "nothing but excuses", state: func(w *world) {
			w.run(base, "push", "test failure")
			w.run(head, "pull_request", "test failure")
		}, why: "No green check"},
		{says: "a job of that name of another workflow excuses nothing", state: func(w *world) {
			of(w.run(base, "push", "test failure"), "e2e", ".github/workflows/e2e.yml")
			w.run(head, "pull_request", "test failure", "lint success")
		}, red: []string{"test"}},
		{says: "what was flaky on the base excuses nothing", state: func(w *world) {
			w.again(w.run(base, "push", "test failure"), "test success")
			w.run(head, "pull_request", "test failure", "lint success")
		}, red: []string{"test"}},
		{says: "what is red on another commit excuses nothing", state: func(w *world) {
			w.run("main2", "push", "test failure")
			w.run(head, "pull_request", "test failure", "lint success")
		}, red: []string{"test"}},
		{says: "a job that was never started is not excused", state: func(w *world) {
			w.run(base, "push", "test failure")
			w.run(head, "pull_request", "test unstarted", "lint success")
		}, why: "never started"},
		{says: "a status of that context is red on the base", state: func(w *world) {
			w.status(base, "ci/jenkins", "failure", nil)
			w.status(head, "ci/jenkins", "error", nil)
			w.run(head, "pull_request", "test success")
		}, green: true},
		{says: "an app's check of that name is red on the base", state: func(w *world) {
			w.check("scanner", base, "scan", "failure")
			w.check("scanner", head, "scan", "failure")
			w.run(head, "pull_request", "test success")
		}, green: true},
		{says: "a run of that workflow fails on the base, too", state: func(w *world) {
			ended(w.run(base, "push", "setup success"), "failure")
			ended(w.run(head, "pull_request", "setup success"), "failure")
		}, green: true},
		{says: "and what is skipped in it is not poisoned", state: func(w *world) {
			ended(w.run(base, "push", "setup success", "ci-ok skipped"), "failure")
			ended(w.run(head, "pull_request", "setup success", "ci-ok skipped"), "failure")
		}, green: true},
		{says: "another app's check of that name excuses nothing", state: func(w *world) {
			w.check("other", base, "scan", "failure")
			w.check("scanner", head, "scan", "failure")
			w.run(head, "pull_request", "test success")
		}, red: []string{"scan"}},
		{says: "a run that a red job explains on the base excuses nothing", state: func(w *world) {
			w.run(base, "push", "setup success", "test failure")
			ended(w.run(head, "pull_request", "setup success"), "failure")
		}, red: []string{"ci"}},
		{says: "what is skipped beside an excused job is not poisoned by it", state: func(w *world) {
			w.run(base, "push", "test failure", "lint success", "ci-ok skipped")
			w.run(head, "pull_request", "test failure", "lint success", "ci-ok skipped")
		}, green: true},
		{says: "nor is one that passes over drafts, if it needs the excused job", state: func(w *world) {
			guarded(w, "test")
		}, green: true},
		{says: "one that passes over drafts and needs another job", state: func(w *world) {
			guarded(w, "lint")
		}, why: "its condition passes over drafts"},
	})
}

// guarded adds a run with an excused job, test, and a skipped one that needs a job and passes over drafts.
func guarded(w *world, need string) {
	w.files[head+ci] = "on: pull_request\njobs:\n  test: {}\n  lint: {}\n  after: {needs: " + need +
		", if: '!github.event.pull_request.draft', steps: [{uses: actions/checkout@v4}]}\n"
	w.run(base, "push", "test failure", "lint success", "after skipped")
	w.run(head, "pull_request", "test failure", "lint success", "after skipped")
}

// A pass needs at least one check that ran code.
func TestEvidence(t *testing.T) {
	const target = "on: pull_request_target\njobs:\n  %: {steps: [{uses: actions/checkout@v4, with: {ref: REF}}]}\n"
	try(t, []verdict{
		{says: "a licence check alone validates nothing", state: func(w *world) {
			w.status(head, "license/cla", "success", nil)
		}, why: "No green check"},
		{says: "nor does a title check", state: func(w *world) {
			w.run(head, "pull_request", "lint-pr-title success")
		}, why: "No green check"},
		{says: "nor do DCO and labels together", state: func(w *world) {
			w.check("dco", head, "DCO", "success")
			w.run(head, "pull_request", "label success")
		}, why: "No green check"},
		{says: "a test of titles is a test", state: func(w *world) {
			w.run(head, "pull_request", "test-title success")
		}, green: true},
		{says: "a licence that nobody signed is not the change's fault", state: func(w *world) {
			w.status(head, "license/cla", "failure", nil)
			w.run(head, "pull_request", "test success")
		}, why: "a person has to see to it"},
		{says: "and a person may go on without it", state: func(w *world) {
			w.status(head, "license/cla", "pending", nil)
			w.run(head, "pull_request", "test success")
		}, tell: tells(waives("license/cla")), green: true},
		{says: "but not without a test", state: func(w *world) {
			w.status(head, "ci/test", "failure", nil)
			w.run(head, "pull_request", "test success")
		}, tell: tells(waives("ci/test")), red: []string{"ci/test"}},
		{says: "a summary by an app is no test", state: func(w *world) {
			w.check("mergify", head, "Summary", "success")
		}, why: "No green check"},
		{says: "unless a person says so", state: func(w *world) {
			w.check("mergify", head, "Summary", "success")
		}, tell: tells(func(q *oracle.Question) { q.Vouched = []string{"Summary"} }), green: true},
		{says: "or a rule names it", state: func(w *world) {
			w.check("acme", head, "gate", "success")
			w.repo.Protection["main"] = []string{"gate"}
		}, green: true},
		{says: "a status of a service that tests is evidence", state: func(w *world) {
			w.status(head, "ci/jenkins", "success", nil)
		}, green: true},
		{says: "what GitHub starts by itself is none", state: func(w *world) {
			w.run(head, "dynamic", "Analyze success")
		}, why: "No green check"},
		{says: "words are whole words", state: func(w *world) {
			w.run(head, "pull_request", "declare success")
		}, green: true},
		{says: "only what counts is evidence", state: func(w *world) {
			w.status(head, "license/cla", "success", nil)
			w.run(head, "pull_request", "test success")
		}, tell: tells(needs("license/cla")), why: "No green check"},
		{says: "a job started on the base does not run the head", state: func(w *world) {
			run := w.run(head, "pull_request_target", "triage success")
			run.Checkout = base
			w.files[base+ci] = replaced(target, "%", "triage", "REF", "main")
		}, why: "No green check"},
		{says: "unless it checks out the head", state: func(w *world) {
			run := w.run(head, "pull_request_target", "triage success")
			run.Checkout = base
			w.files[base+ci] = replaced(target, "%", "triage", "REF", "'${{ github.event.pull_request.head.sha }}'")
		}, green: true},
		{says: "a comment starts on the base, too", state: func(w *world) {
			w.run(head, "issue_comment", "answer success").Checkout = base
		}, why: "No green check"},
	})
}

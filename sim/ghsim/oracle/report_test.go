package oracle_test

import (
	"testing"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// The verdict is about the pull request's present head only.
func TestPresentHead(t *testing.T) {
	try(t, []verdict{
		{says: "a green check passes", state: func(w *world) {
			w.run(head, "pull_request", "test success")
		}, green: true},
		{says: "where nothing ran, nothing was validated", state: func(*world) {}, why: "No green check"},
		{says: "a bot's red commit is the head, however green the one before is", state: func(w *world) {
			w.run(earlier, "pull_request", "test success")
			w.run(head, "pull_request", "test failure")
		}, red: []string{"test"}, why: `"test" is red`},
		{says: "checks of a previous commit are not used", state: func(w *world) {
			w.run(earlier, "pull_request", "test success")
		}, why: "No green check"},
		{says: "SIA's own are left out", state: func(w *world) {
			w.check("sia", head, "sia", "")
			w.status(head, "sia", "failure", w.app("sia").Bot)
			w.run(head, "pull_request", "test success")
		}, green: true},
		{says: "SIA's own are no evidence", state: func(w *world) {
			w.check("sia", head, "sia", "success")
		}, why: "No green check"},
	})
}

// Each job of each workflow is a separate report, identified by app, suite and job.
func TestCriteria(t *testing.T) {
	try(t, []verdict{
		{says: "two workflows may have jobs of one name: the worst counts", state: func(w *world) {
			of(w.run(head, "pull_request", "test failure"), "unit", ".github/workflows/unit.yml")
			of(w.run(head, "pull_request", "test success"), "e2e", ".github/workflows/e2e.yml")
		}, red: []string{"test"}},
		{says: "so may the runs of a push and of a pull request", state: func(w *world) {
			w.run(head, "push", "test failure")
			w.run(head, "pull_request", "test success")
		}, red: []string{"test"}},
		{says: "a name that is red twice is one name", state: func(w *world) {
			w.run(head, "push", "test failure")
			w.run(head, "pull_request", "test failure")
		}, red: []string{"test"}},
		{says: "a check and a status of one name both count", state: func(w *world) {
			w.run(head, "pull_request", "test success")
			w.status(head, "test", "failure", nil)
		}, red: []string{"test"}},
		{says: "a later attempt of the same run and job replaces an earlier one", state: func(w *world) {
			w.again(w.run(head, "pull_request", "test failure", "lint success"), "test success")
		}, green: true},
		{says: "failed and passed as attempts of one job is flaky, passed and failed is red", state: func(w *world) {
			w.again(w.run(head, "pull_request", "test success"), "test failure")
		}, red: []string{"test"}},
		{says: "an attempt that runs replaces too", state: func(w *world) {
			w.again(w.run(head, "pull_request", "test failure", "lint success"), "test")
		}, why: `"test" has not completed`},
		{says: "a job of an earlier attempt counts until the next one makes it", state: func(w *world) {
			run := w.run(head, "pull_request", "test failure", "lint success")
			run.Attempt++
			run.Jobs[1].Attempts = append(run.Jobs[1].Attempts, 2)
			ended(run, "cancelled")
		}, red: []string{"test"}},
	})
}

// A cancelled run counts as replaced by a later run of the same workflow and job on the same head.
func TestConcurrency(t *testing.T) {
	try(t, []verdict{
		{says: "a later run replaces the cancelled one", state: func(w *world) {
			w.run(head, "push", "test cancelled", "lint success")
			w.run(head, "pull_request", "test success", "lint success")
		}, green: true},
		{says: "an earlier one does not", state: func(w *world) {
			w.run(head, "push", "test success")
			w.run(head, "pull_request", "test cancelled")
		}, why: `"test" is not green: it was cancelled`},
		{says: "running the first again cancels the second", state: func(w *world) {
			first := w.run(head, "push", "test cancelled")
			w.run(head, "pull_request", "test cancelled")
			w.again(first, "test success")
		}, green: true},
		{says: "a cancelled run without jobs is replaced too", state: func(w *world) {
			ended(w.run(head, "push"), "cancelled")
			w.run(head, "pull_request", "test success")
		}, green: true},
		{says: "of a cancelled run every job is replaced", state: func(w *world) {
			ended(w.run(head, "push", "test failure", "lint cancelled"), "cancelled")
			w.run(head, "pull_request", "test success", "lint success")
		}, green: true},
		{says: "an earlier run replaces no run", state: func(w *world) {
			w.run(head, "push", "test success")
			ended(w.run(head, "pull_request"), "cancelled")
		}, why: `"ci" ended as cancelled`},
		{says: "a run for another commit replaces nothing", state: func(w *world) {
			w.run(head, "push", "test cancelled", "lint success")
			w.run("later", "push", "test success", "lint success")
		}, why: "it was cancelled"},
		{says: "a run of another repository's file replaces nothing", state: func(w *world) {
			w.run(head, "push", "test cancelled", "lint success")
			w.run(head, "pull_request", "test success").From = w.repository(7, "policies")
		}, why: "it was cancelled"},
		{says: "another workflow's run replaces nothing", state: func(w *world) {
			w.run(head, "push", "test cancelled")
			of(w.run(head, "pull_request", "test success"), "other", ".github/workflows/other.yml")
		}, why: "it was cancelled"},
		{says: "another job replaces nothing", state: func(w *world) {
			w.run(head, "push", "test cancelled")
			w.run(head, "pull_request", "lint success")
		}, why: "it was cancelled"},
		{says: "a failed run is replaced by a success for the same event", state: func(w *world) {
			w.run(head, "pull_request", "test failure", "lint success")
			w.run(head, "pull_request", "test success", "lint success")
		}, green: true},
		{says: "but not by one in which it was skipped", state: func(w *world) {
			w.run(head, "pull_request", "test failure", "lint success")
			w.run(head, "pull_request", "test skipped", "lint success")
		}, red: []string{"test"}},
		{says: "nor by an earlier one", state: func(w *world) {
			w.run(head, "pull_request", "test success")
			w.run(head, "pull_request", "test failure")
		}, red: []string{"test"}},
		{says: "a run that failed without a job, too", state: func(w *world) {
			ended(w.run(head, "pull_request"), "startup_failure")
			w.run(head, "pull_request", "test success")
		}, green: true},
		{says: "a failed run is not replaced for another event", state: func(w *world) {
			w.run(head, "push", "test failure")
			w.run(head, "pull_request", "test success")
		}, red: []string{"test"}},
		{says: "what replaces the cancelled one is judged", state: func(w *world) {
			w.run(head, "push", "test cancelled")
			w.run(head, "pull_request", "test failure")
		}, red: []string{"test"}},
		{says: "a run cancelled without a later one asks", state: func(w *world) {
			w.run(head, "push", "lint success")
			ended(of(w.run(head, "pull_request"), "slow", ".github/workflows/slow.yml"), "cancelled")
		}, why: `"slow" ended as cancelled`},
	})
}

// Check runs made through the API have no attempts: a new one of the same name is a new run.
func TestMadeThroughTheAPI(t *testing.T) {
	try(t, []verdict{
		{says: "the newest replaces the older one", state: func(w *world) {
			w.check("reporter", head, "test report", "failure")
			w.check("reporter", head, "test report", "success")
		}, green: true},
		{says: "and the other way round", state: func(w *world) {
			w.check("reporter", head, "report", "success")
			w.check("reporter", head, "report", "failure")
		}, red: []string{"report"}},
		{says: "while the newest runs it is waited for", state: func(w *world) {
			w.check("reporter", head, "report", "success")
			w.check("reporter", head, "report", "")
		}, why: `"report" has not completed`},
		{says: "another app's replaces nothing", state: func(w *world) {
			w.check("reporter", head, "report", "failure")
			w.check("other", head, "report", "success")
		}, red: []string{"report"}},
		{says: "one made with GITHUB_TOKEN is no job, whatever suite it hangs in", state: func(w *world) {
			run := w.run(head, "pull_request", "test failure")
			k := &model.CheckRun{ID: w.next(), Suite: run.Suite, Name: "test", SHA: head}
			complete(k, "success")
			w.repo.Checks = append(w.repo.Checks, k)
		}, red: []string{"test"}},
	})
}

// Commit statuses count, the newest of each context, and those on the test merge commit as GitHub counts them.
func TestStatuses(t *testing.T) {
	dana, erin := &model.User{Login: "dana"}, &model.User{Login: "erin"}
	try(t, []verdict{
		{says: "a green status passes", state: func(w *world) {
			w.status(head, "ci/jenkins", "success", dana)
		}, green: true},
		{says: "the newest of a context counts, whoever set it", state: func(w *world) {
			w.status(head, "ci/jenkins", "success", dana)
			w.status(head, "ci/jenkins", "error", erin)
		}, red: []string{"ci/jenkins"}},
		{says: "a pending status is waited for", state: func(w *world) {
			w.run(head, "pull_request", "test success")
			w.status(head, "ci/jenkins", "pending", dana)
		}, why: `"ci/jenkins" has not completed`},
		{says: "a red status after everything was green is red", state: func(w *world) {
			w.run(head, "pull_request", "test success")
			w.status(head, "ci/jenkins", "failure", dana)
		}, red: []string{"ci/jenkins"}},
		{says: "a red status on the test merge counts in the head's place", state: func(w *world) {
			w.status(merge, "ci/jenkins", "failure", dana)
			w.status(head, "ci/jenkins", "success", dana)
		}, red: []string{"ci/jenkins"}},
		{says: "and so does a green one", state: func(w *world) {
			w.status(head, "ci/jenkins", "failure", dana)
			w.status(merge, "ci/jenkins", "success", dana)
		}, green: true},
		{says: "a check run on the test merge counts", state: func(w *world) {
			w.run(head, "pull_request", "test success")
			w.check("merger", merge, "merged", "failure")
		}, red: []string{"merged"}},
		{says: "an app's check on the test merge counts in the head's place", state: func(w *world) {
			w.check("scanner", merge, "scan", "failure")
			w.check("scanner", head, "scan", "success")
		}, red: []string{"scan"}},
		{says: "and so does a green one of the app", state: func(w *world) {
			w.check("scanner", merge, "test scan", "success")
			w.check("scanner", head, "test scan", "failure")
		}, green: true},
		{says: "the test merge with a base that moved is no longer looked at", state: func(w *world) {
			w.run(head, "pull_request", "test success")
			w.check("merger", merge, "merged", "failure")
			w.repo.Refs["refs/heads/main"] = "moved"
		}, green: true},
	})
}

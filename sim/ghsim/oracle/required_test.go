package oracle_test

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/oracle"
	"github.com/sia-bot/sia/sim/ghsim/runner"
)

func tells(t ...func(*oracle.Question)) []func(*oracle.Question) { return t }

func replaced(text string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(text)
}

// Required are the names in the branch's rules and protection, and in the settings; if there are none, every check that
// ran.
func TestRequired(t *testing.T) {
	const other = ".github/workflows/other.yml"
	mixed := func(w *world) {
		w.run(head, "pull_request", "test success")
		of(w.run(head, "pull_request", "nightly failure"), "other", other)
	}
	try(t, []verdict{
		{says: "where nothing is required, every check that ran is", state: mixed, red: []string{"nightly"}},
		{says: "what the settings name, and nothing else", state: mixed, tell: tells(needs("test")), green: true},
		{says: "what protection names", state: func(w *world) {
			w.repo.Protection["main"] = []string{"test"}
			mixed(w)
		}, green: true},
		{says: "what a ruleset names", state: func(w *world) {
			w.require(model.ChecksRule("test"))
			mixed(w)
		}, green: true},
		{says: "all of them together", state: func(w *world) {
			w.repo.Protection["main"] = []string{"test"}
			w.require(model.ChecksRule("test"), model.ChecksRule("nightly"))
			mixed(w)
		}, red: []string{"nightly"}},
		{says: "the settings add to the rules", state: func(w *world) {
			w.require(model.ChecksRule("test"))
			mixed(w)
		}, tell: tells(needs("nightly")), red: []string{"nightly"}},
		{says: "of the base that the pull request has now", state: func(w *world) {
			w.repo.Rules["next"] = []model.Rule{model.ChecksRule("nightly")}
			w.pull.Base = "next"
			mixed(w)
		}, red: []string{"nightly"}},
		{says: "where the rules can't be read, everything that ran is required", state: func(w *world) {
			w.require(model.ChecksRule("test"))
			w.repo.RulesHidden = 403
			mixed(w)
		}, red: []string{"nightly"}},
		{says: "and what the settings name", state: func(w *world) {
			w.repo.RulesHidden = 403
			w.run(head, "pull_request", "test success")
		}, tell: tells(needs("lint")), why: `"lint", which is required`},
		{says: "and everything else", state: func(w *world) {
			w.repo.RulesHidden = 403
			mixed(w)
		}, tell: tells(needs("test")), red: []string{"nightly"}},
		{says: "a name that several report: the worst counts", state: func(w *world) {
			w.require(model.ChecksRule("test"))
			w.run(head, "pull_request", "test success")
			of(w.run(head, "pull_request", "test failure"), "other", other)
		}, red: []string{"test"}},
		{says: "a misspelt name never reports", state: func(w *world) {
			w.require(model.ChecksRule("tset"))
			w.run(head, "pull_request", "test success")
		}, why: `"tset", which is required, has not reported within 15m0s`},
		{says: "what runs on merge_group alone never reports", state: func(w *world) {
			w.require(model.ChecksRule("test", "queue"))
			w.run(head, "pull_request", "test success")
			w.run("queued", "merge_group", "queue success")
		}, why: `"queue", which is required`},
		{says: "a person may waive it", state: func(w *world) {
			w.require(model.ChecksRule("test", "queue"))
			w.run(head, "pull_request", "test success")
		}, tell: tells(waives("queue")), green: true},
		{says: "waiving does not make red green", state: func(w *world) {
			w.require(model.ChecksRule("test", "queue"))
			w.run(head, "pull_request", "test success", "queue failure")
		}, tell: tells(waives("queue")), red: []string{"queue"}},
		{says: "where all that is required is waived, everything that ran counts", state: func(w *world) {
			w.require(model.ChecksRule("queue"))
			mixed(w)
		}, tell: tells(waives("queue")), red: []string{"nightly"}},
	})
}

// Rules may name a check's app.
func TestRequiredOfAnApp(t *testing.T) {
	rule := func(w *world) { w.require(appRule("scan", w.app("scanner").ID)) }
	try(t, []verdict{
		{says: "the app's check run", state: func(w *world) {
			rule(w)
			w.check("scanner", head, "scan", "success")
		}, green: true},
		{says: "the right name of a wrong app", state: func(w *world) {
			rule(w)
			w.check("other", head, "scan", "success")
		}, why: `"scan", which is required`},
		{says: "a wrong app's red check beside the right one", state: func(w *world) {
			rule(w)
			w.check("scanner", head, "scan", "success")
			w.check("other", head, "scan", "failure")
		}, green: true},
		{says: "the right name of a wrong person", state: func(w *world) {
			rule(w)
			w.status(head, "scan", "success", &model.User{Login: "mallory"})
		}, why: `"scan", which is required`},
		{says: "a status that the app set", state: func(w *world) {
			rule(w)
			w.status(head, "scan", "success", w.app("scanner").Bot)
		}, green: true},
		{says: "-1 is any app", state: func(w *world) {
			w.require(appRule("scan", -1))
			w.check("other", head, "scan", "success")
		}, green: true},
	})
}

// Required workflows are compared by repository and event.
func TestRequiredWorkflows(t *testing.T) {
	const policy = ".github/workflows/policy.yml"
	foreign := func(w *world, event string, jobs ...string) *model.Run {
		run := of(w.run(head, event, jobs...), "policy", policy)
		run.From = w.repository(7, "policies")
		return run
	}
	rule := func(w *world) { w.require(workflowRule(policy, 7)) }
	try(t, []verdict{
		{says: "the workflow of the other repository", state: func(w *world) {
			rule(w)
			foreign(w, "pull_request", "policy success")
		}, green: true},
		{says: "our own file at the same path", state: func(w *world) {
			rule(w)
			of(w.run(head, "pull_request", "policy success"), "policy", policy)
		}, why: policy},
		{says: "a run for a push", state: func(w *world) {
			rule(w)
			foreign(w, "push", "policy success")
		}, why: policy},
		{says: "a workflow of the repository itself", state: func(w *world) {
			w.require(workflowRule(ci, 1))
			w.run(head, "pull_request", "test success")
		}, green: true},
		{says: "its red job is red", state: func(w *world) {
			rule(w)
			foreign(w, "pull_request", "policy failure")
		}, red: []string{"policy"}},
		{says: "its red job is red on the base, too, and another is green", state: func(w *world) {
			w.require(workflowRule(ci, 1))
			w.run(base, "push", "lint failure")
			w.run(head, "pull_request", "lint failure", "test success")
		}, why: "a rule requires it"},
		{says: "its red job is red on the base, too, and nothing else ran the code", state: func(w *world) {
			w.require(workflowRule(ci, 1))
			w.run(base, "push", "lint failure")
			w.run(head, "pull_request", "lint failure", "title success")
		}, why: "No green check"},
		{says: "its run may fail by itself", state: func(w *world) {
			rule(w)
			ended(foreign(w, "pull_request", "setup success"), "failure")
		}, red: []string{"policy"}, why: "no job says why"},
		{says: "its run may wait for an approval", state: func(w *world) {
			rule(w)
			ended(foreign(w, "pull_request"), "action_required")
		}, why: "action_required"},
		{says: "its run may not have completed", state: func(w *world) {
			rule(w)
			foreign(w, "pull_request", "policy")
		}, why: "has not completed"},
		{says: "its job may never have been started", state: func(w *world) {
			rule(w)
			foreign(w, "pull_request", "policy unstarted")
		}, why: "never started"},
		{says: "its run may have been cancelled and replaced", state: func(w *world) {
			rule(w)
			foreign(w, "pull_request", "policy cancelled")
			foreign(w, "pull_request", "policy success")
		}, green: true},
		{says: "paperwork in it is no evidence", state: func(w *world) {
			rule(w)
			foreign(w, "pull_request", "title success")
		}, why: "No green check"},
		{says: "a skipped run is no evidence", state: func(w *world) {
			rule(w)
			foreign(w, "pull_request", "policy skipped")
		}, why: "No green check"},
		{says: "a person may waive it", state: func(w *world) {
			w.require(workflowRule(policy, 7), model.ChecksRule("test"))
			w.run(head, "pull_request", "test success")
		}, tell: tells(waives(policy)), green: true},
	})
}

// The pull request may be closed or merged: that does not change whether its head is green.
func TestOpen(t *testing.T) {
	for _, c := range []struct {
		says  string
		state func(*world)
		want  bool
	}{
		{"open", func(*world) {}, true},
		{"closed", func(w *world) { w.issue.State = "closed" }, false},
		{"merged", func(w *world) { w.issue.State, w.pull.MergedAt = "closed", noon }, false},
	} {
		w := newWorld(t)
		w.run(head, "pull_request", "test success")
		c.state(w)
		if got := w.ask(); got.Open != c.want || !got.Green || got.Head != head {
			t.Errorf("%s: %+v, want open %v and a green head", c.says, got, c.want)
		}
	}
	got := oracle.Ask(newWorld(t).repo, oracle.Question{Repo: "acme/shop", Pull: 9}, asked, nil)
	if got.Green || got.Open || len(got.Why) != 1 {
		t.Errorf("a pull request that there is not: %+v", got)
	}
}

// The dependencies of a required job must be green, too.
func TestNeededJobs(t *testing.T) {
	const file = "on: pull_request\njobs:\n  build: {}\n  test: {needs: build}\n  docs: {}\n" +
		"  slow: {continue-on-error: true}\n" +
		"  ok: {needs: [test, slow], steps: [{run: 'test ${{ needs.test.result }} != failure'}]}\n"
	on := func(jobs ...string) func(*world) {
		return func(w *world) {
			w.files[head+ci] = file
			w.run(head, "pull_request", jobs...)
		}
	}
	ok := tells(needs("ok"))
	try(t, []verdict{
		{says: "all that it needs is green", state: on("build success", "test success", "docs failure", "ok success"),
			tell: ok, green: true},
		{says: "what it needs is red", state: on("build success", "test failure", "ok success"), tell: ok,
			red: []string{"test"}},
		{says: "what that needs is red", state: on("build failure", "test skipped", "ok success"), tell: ok,
			red: []string{"build"}},
		{says: "what it needs was cancelled", state: on("build success", "test cancelled", "ok success"), tell: ok,
			why: `"test" is not green`},
		{says: "what may fail is red", state: on("build success", "test success", "slow failure", "ok success"), tell: ok,
			green: true},
		{says: "who sums others up runs no code", state: on("build skipped", "test skipped", "ok success"), tell: ok,
			why: "No green check"},
		{says: "another run of its workflow is to make it", state: func(w *world) {
			on("build success", "test success", "ok success")(w)
			w.run(head, "pull_request", "build ").Waiting = []runner.Job{{Key: "ok", Name: "ok"}}
		}, tell: ok, why: `"ok", which is required, is still to run`},
		{says: "it was skipped beside what it does not need", state: on("build success", "test success", "docs failure",
			"ok skipped"), tell: ok, green: true},
	})
}

package oracle_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/oracle"
)

// Missing reports of earlier heads are missed.
func TestExpectedOfEarlierHeads(t *testing.T) {
	// here sets the head's tests to green, and its workflow file.
	here := func(w *world, file string) {
		w.files[head+ci], w.files[base+ci] = file, file
		of(w.run(head, "push", "unit success"), "unit", ".github/workflows/unit.yml")
		w.run(earlier, "pull_request", "test failure")
	}
	on := func(on string) func(*world) {
		return func(w *world) { here(w, "on: "+on+"\njobs: {test: {steps: [{run: make}]}}\n") }
	}
	past := tells(after(earlier, head))
	missed := `"test", which reported before, has not reported within 15m0s`
	try(t, []verdict{
		{says: "ci/jenkins failed attempt 1 and has not reported on the last head", state: func(w *world) {
			w.status(earlier, "ci/jenkins", "failure", nil)
			w.run(head, "pull_request", "test success")
		}, tell: past, why: `"ci/jenkins", which reported before`},
		{says: "whoever reports the name, it has reported", state: func(w *world) {
			w.status(earlier, "ci/jenkins", "failure", nil)
			w.check("jenkins", head, "ci/jenkins", "success")
		}, tell: past, green: true},
		{says: "a person may waive it", state: func(w *world) {
			w.status(earlier, "ci/jenkins", "failure", nil)
			w.run(head, "pull_request", "test success")
		}, tell: append(tells(waives("ci/jenkins")), past...), green: true},
		{says: "where something is required, nothing else is missed", state: func(w *world) {
			w.status(earlier, "ci/jenkins", "failure", nil)
			w.run(head, "pull_request", "test success")
		}, tell: append(tells(needs("test")), past...), green: true},
		{says: "a job that was skipped there is not missed", state: func(w *world) {
			here(w, "on: push\njobs: {deploy: {}}\n")
			w.run("older", "pull_request", "deploy skipped")
		}, tell: tells(after("older")), green: true},
		{says: "SIA's own is not missed", state: func(w *world) {
			w.check("sia", earlier, "sia", "success")
			w.run(head, "pull_request", "test success")
		}, tell: past, green: true},
		{says: "a workflow without filters is missed", state: on("pull_request"), tell: past, why: missed},
		{says: "one of a list of events is", state: on("[push, workflow_dispatch]"), tell: past, why: missed},
		{says: "one whose filter names the base is", state: on("{pull_request: {branches: [main]}}"), tell: past,
			why: missed},
		{says: "one whose filter names the branch is", state: on("{push: {branches: [sia/1, main]}}"), tell: past,
			why: missed},
		{says: "one with the default types is", state: on("{pull_request: {types: [opened, synchronize, edited]}}"),
			tell: past, why: missed},
		{says: "a path filter may leave it out", state: on("{pull_request: {paths: [src/**]}}"), tell: past, green: true},
		{says: "an ignored path may", state: on("{push: {paths-ignore: [docs/**]}}"), tell: past, green: true},
		{says: "a branch pattern may", state: on("{push: {branches: ['release/*']}}"), tell: past, green: true},
		{says: "an ignored branch may", state: on("{push: {branches-ignore: [wip]}}"), tell: past, green: true},
		{says: "a branch that is excluded again may", state: on("{push: {branches: [sia/1, '!sia/*']}}"), tell: past,
			green: true},
		{says: "tags alone do", state: on("{push: {tags: ['v*']}}"), tell: past, green: true},
		{says: "the first head's type alone may", state: on("{pull_request: {types: [opened]}}"), tell: past, green: true},
		{says: "the later heads' type alone may", state: on("{pull_request: {types: [synchronize]}}"), tell: past,
			green: true},
		{says: "types may", state: on("{pull_request: {types: [labeled]}}"), tell: past, green: true},
		{says: "a schedule does", state: on("{schedule: [{cron: '0 0 * * *'}]}"), tell: past, green: true},
		{says: "a job that the base does not have any more either", state: func(w *world) {
			here(w, "on: push\njobs: {other: {}}\n")
		}, tell: past, green: true},
		{says: "a workflow that the branch deleted is missed", state: func(w *world) {
			on("push")(w)
			delete(w.files, head+ci)
		}, tell: past, why: missed},
		{says: "a job that the branch took out is missed", state: func(w *world) {
			on("push")(w)
			w.files[head+ci] = "on: push\njobs: {other: {}}\n"
		}, tell: past, why: missed},
		{says: "a job that the branch took out is not missed where a person accepted that", state: func(w *world) {
			on("push")(w)
			w.files[head+ci] = "on: push\njobs: {other: {}}\n"
		}, tell: append(slices.Clone(past), func(q *oracle.Question) { q.Accepted = true }), green: true},
		{says: "a file that can't be read has no jobs, and the base's is missed", state: func(w *world) {
			on("push")(w)
			w.files[head+ci] = "\t:"
		}, tell: past, why: missed},
		{says: "another combination of a matrix is enough", state: func(w *world) {
			here(w, "on: push\njobs: {test: {strategy: {matrix: {go: ['1.26']}}}}\n")
			run := w.run(head, "push", "test success")
			run.Jobs[0].Check.Name = "test (1.26)"
		}, tell: past, green: true},
		{says: "no combination of a matrix is not", state: func(w *world) {
			here(w, "on: push\njobs: {test: {strategy: {matrix: {go: ['1.26']}}}}\n")
		}, tell: past, why: missed},
	})
}

// Names are also known from the base's last heads, and from its last merged pull requests.
func TestExpectedOfTheBase(t *testing.T) {
	try(t, []verdict{
		{says: "most of the base's last commits", state: func(w *world) {
			w.log = []string{"main3", "main2", base}
			w.status("main3", "ci/jenkins", "success", nil)
			w.status("main2", "ci/jenkins", "success", nil)
			w.run(head, "pull_request", "test success")
		}, why: `"ci/jenkins", which reported before`},
		{says: "not one of them", state: func(w *world) {
			w.log = []string{"main3", "main2", base}
			w.status("main3", "ci/jenkins", "success", nil)
			w.run(head, "pull_request", "test success")
		}, green: true},
		{says: "a commit that is further back is not looked at", state: func(w *world) {
			w.log = []string{"main5", "main4", "main3", "main2", base}
			w.status("main2", "ci/jenkins", "success", nil)
			w.status(base, "ci/jenkins", "success", nil)
			w.run(head, "pull_request", "test success")
		}, green: true},
		{says: "most of the pull requests that were merged last", state: func(w *world) {
			w.merged("one", "test success", "preview success")
			w.merged("two", "test success")
			w.merged("three", "test success", "preview success")
			w.files[head+ci] = "on: pull_request\njobs: {test: {}, preview: {}}\n"
			w.run(head, "pull_request", "test success")
		}, why: `"preview", which reported before`},
		{says: "half of them is not most", state: func(w *world) {
			w.merged("one", "test success", "preview success")
			w.merged("two", "test success")
			w.files[head+ci] = "on: pull_request\njobs: {test: {}, preview: {}}\n"
			w.run(head, "pull_request", "test success")
		}, green: true},
		{says: "those merged into another branch don't count", state: func(w *world) {
			w.merged("one", "test success", "preview success")
			w.repo.Issues[1].Pull.Base = "next"
			w.files[head+ci] = "on: pull_request\njobs: {test: {}, preview: {}}\n"
			w.run(head, "pull_request", "test success")
		}, green: true},
		{says: "those merged long ago don't count", state: func(w *world) {
			for _, sha := range []string{"a", "b", "c"} {
				w.merged(sha, "preview success")
			}
			for _, sha := range []string{"d", "e", "f", "g", "h"} {
				w.merged(sha, "test success")
			}
			w.files[head+ci] = "on: pull_request\njobs: {test: {}, preview: {}}\n"
			w.run(head, "pull_request", "test success")
		}, green: true},
		{says: "what reports on the base and not on pull requests is of the base alone", state: func(w *world) {
			w.status(base, "deploy/production", "success", nil)
			w.merged("one", "test success")
			w.run(head, "pull_request", "test success")
		}, green: true},
		{says: "a workflow that starts on the base alone", state: func(w *world) {
			of(w.run(base, "push", "deploy success"), "deploy", ".github/workflows/deploy.yml")
			w.files[head+".github/workflows/deploy.yml"] = "on: {push: {branches: [main]}}\njobs: {deploy: {}}\n"
			w.run(head, "pull_request", "test success")
		}, green: true},
		{says: "a workflow of another repository that is required, though that can't be read", state: func(w *world) {
			const policy = ".github/workflows/policy.yml"
			w.require(workflowRule(policy, 7))
			w.repo.RulesHidden = 404
			run := of(w.run("one", "pull_request", "policy success"), "policy", policy)
			run.From = w.repository(7, "policies")
			w.merged("one")
			w.run(head, "pull_request", "test success")
		}, why: `"policy", which reported before`},
		{says: "and is not required any more", state: func(w *world) {
			run := of(w.run("one", "pull_request", "policy success"), "policy", ".github/workflows/policy.yml")
			run.From = w.repository(7, "policies")
			w.merged("one")
			w.run(head, "pull_request", "test success")
		}, green: true},
	})
}

// Missing reports mean wait, then ask; only the words differ meanwhile.
func TestWait(t *testing.T) {
	w := newWorld(t)
	w.run(head, "pull_request", "test success")
	for wait, words := range map[time.Duration]string{time.Minute: "within 1m0s", 2 * time.Hour: "has not reported yet"} {
		got := w.ask(needs("lint"), func(q *oracle.Question) { q.Wait = wait })
		if got.Green || !strings.Contains(strings.Join(got.Why, "\n"), words) {
			t.Errorf("waiting %s: %+v, want words %q", wait, got, words)
		}
	}
}

package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/scripted"
)

// An attempt on a runner learns before its end what the server would not push, and takes it back.
//
//test:thorough
func TestRunnerPushRefusal(t *testing.T) {
	t.Parallel()
	call := func(name string, args map[string]any) scripted.Answer {
		return scripted.Answer{Calls: []scripted.Call{{Name: name, Args: args}}}
	}
	finish := call("finish", map[string]any{"summary": "Greeted."})
	w := newRunnerWorld(t, scripted.Script{Rules: []scripted.Rule{{
		Name: "coder", Model: "coder", User: "Greet the customers", Turns: []scripted.Answer{
			call("write", map[string]any{"path": "hello.txt",
				"content": "Hello, world!\ntoken=ghs_" + strings.Repeat("aB3d", 9) + "\n"}),
			finish,
			call("write", map[string]any{"path": "hello.txt", "content": "Hello, world!\n"}),
			finish,
		}}}})
	w.runner("mill")
	w.ask()
	w.passed(w.ended(w.db()))
	q := w.model.Requests()
	if !slices.ContainsFunc(q, func(q scripted.Request) bool {
		return strings.Contains(q.Last(), "the change adds a secret: `hello.txt:2`")
	}) {
		t.Error("the agent was not told what is not pushed")
	}
}

// What SIA finds out by running tests itself is found out on a runner, since the server has no sandbox, and it is in
// the explanation of the pass.
//
//test:thorough
func TestRunnerEvidence(t *testing.T) {
	t.Parallel()
	write := func(path, text string) scripted.Call {
		return scripted.Call{Name: "write", Args: map[string]any{"path": path, "content": text}}
	}
	const test = "import unittest\n\nimport greeting\n\n\nclass TestGreeting(unittest.TestCase):\n" +
		"    def test_name(self):\n        self.assertEqual(\"Hello, Ada!\", greeting.greeting(\"Ada\"))\n"
	w := newRunnerWorld(t, scripted.Script{Rules: []scripted.Rule{{
		Name: "coder", Model: "coder", User: "Greet the customers", Turns: []scripted.Answer{
			{Calls: []scripted.Call{write("hello.txt", "Hello, world!\n"), write("test_greeting.py", test)}},
			{Calls: []scripted.Call{{Name: "finish", Args: map[string]any{"summary": "Greeted."}}}},
		}}}})
	_, err := w.sim.PushFiles(apptest.Repo, "main", apptest.Owner, "Greetings", map[string]string{
		"greeting.py": "def greeting(name):\n    return \"Hello, \" + name + \"!\"\n",
		"test_greeting.py": test + "\n    def test_nobody(self):\n" +
			"        self.assertEqual(\"Hello, !\", greeting.greeting(\"\"))\n"})
	w.must(err)
	p, db := w.runner("mill"), w.db()
	w.until("it is known that the runner can run tests", func() bool {
		can, err := db.HasTestRunner(w.ctx)
		w.must(err)
		return can
	})
	w.ask()
	p.await(t, "tests begin")
	task := w.ended(db)
	if task.State != sia.Passed {
		t.Fatalf("the task is %s: %+v, %+v", task.State, task.Attempt(), task.Gate.Evidence)
	}
	pull, err := w.sim.Pull(apptest.Repo, 2)
	w.must(err)
	checks, err := w.sim.CheckRuns(apptest.Repo, pull.Head)
	w.must(err)
	if !slices.ContainsFunc(checks, func(c ghsim.CheckView) bool {
		return c.Title == "Every required check is green" && strings.Contains(c.Text, "test_nobody` of `test_greeting.py` "+
			"is gone or skipped; as the base commit has it, it passes")
	}) {
		t.Errorf("no check run has the evidence: %+v", checks)
	}
	if said := w.server.said(); strings.Contains(said, "sandbox") {
		t.Errorf("the server has a sandbox: %s", said)
	}

	for _, p := range []*siaProcess{p, w.server} { // else the runner's last request may take what is offered here
		w.must(p.cmd.Process.Kill())
		<-p.ended
	}
	key := string(task.ID) + "/1/evidence"
	w.must(db.OfferAttempt(w.ctx, store.RunnerAttempt{Key: key + " x", TestsOf: key, Task: task.ID, Work: []byte("{}")}))
	show := func(want string, args ...string) {
		t.Helper()
		if got := w.sia(args...); !strings.Contains(got, want) {
			t.Errorf("sia %v does not say %q:\n%s", args, want, got)
		}
	}
	show("tests of attempt 1 wait for a runner since", "task", "show", apptest.Repo+"#1")
	_, _, err = db.ClaimAttempt(w.ctx, "mill", "p", true, true, time.Hour)
	w.must(err)
	show("tests of attempt 1 are run by the runner mill", "task", "show", apptest.Repo+"#1")
	show(apptest.Repo+"#1, tests of attempt 1", "runner", "list")
	show(`"tests": true`, "runner", "list", "--output", "json")
}

// An attempt on a runner learns which tests it breaks before it pushes, and repairs them.
//
//test:thorough
func TestRunnerRunsTests(t *testing.T) {
	t.Parallel()
	write := func(path, text string) scripted.Call {
		return scripted.Call{Name: "write", Args: map[string]any{"path": path, "content": text}}
	}
	const greeting = "def greeting(name):\n    return \"Hello, \" + name + \"!\"\n"
	finish := scripted.Answer{Calls: []scripted.Call{{Name: "finish", Args: map[string]any{"summary": "Greeted."}}}}
	w := newRunnerWorld(t, scripted.Script{Rules: []scripted.Rule{{
		Name: "coder", Model: "coder", User: "Greet the customers", Turns: []scripted.Answer{
			{Calls: []scripted.Call{write("hello.txt", "Hello, world!\n"),
				write("greeting.py", strings.Replace(greeting, "Hello", "Hi", 1))}},
			finish,
			{Calls: []scripted.Call{write("greeting.py", greeting)}},
			finish,
		}}}})
	_, err := w.sim.PushFiles(apptest.Repo, "main", apptest.Owner, "Greetings", map[string]string{
		"greeting.py": greeting,
		"test_greeting.py": "import unittest\n\nimport greeting\n\n\nclass TestGreeting(unittest.TestCase):\n" +
			"    def test_name(self):\n        self.assertEqual(\"Hello, Ada!\", greeting.greeting(\"Ada\"))\n"})
	w.must(err)
	w.runner("mill")
	w.ask()
	task := w.ended(w.db())
	w.passed(task)
	got := task.Attempt().Affected
	if got == nil {
		t.Fatal("no tests were run on the runner")
	}
	d := cmp.Diff([]string{"test_greeting.py::test_greeting.TestGreeting.test_name"}, got.Failed)
	if d != "" || !got.Again || len(got.Left) > 0 {
		t.Errorf("%+v: -want +got\n%s", got, d)
	}
}

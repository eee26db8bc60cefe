package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sim/apptest"
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

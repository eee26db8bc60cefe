package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/scripted"
)

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

package runner

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func pushTo(branch string) Event {
	return Event{Name: "push", Payload: map[string]any{"ref": "refs/heads/" + branch}}
}

func pullRequestInto(base string) Event {
	return Event{Name: "pull_request",
		Payload: map[string]any{"pull_request": map[string]any{"base": map[string]any{"ref": base}}}}
}

func TestPlan(t *testing.T) {
	w, err := Parse([]byte(`
on:
  push: {branches: [main]}
  pull_request: {branches-ignore: [old]}
jobs:
  lint: {needs: test, steps: [{run: x}]}
  test: {strategy: {matrix: {go: [1, 2]}}, steps: [{run: x}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"test (1)", "test (2)", "lint"}
	for _, c := range []struct {
		event Event
		want  []string
	}{
		{pushTo("main"), all}, {pushTo("topic"), nil},
		{pullRequestInto("main"), all}, {pullRequestInto("old"), nil},
		{Event{Name: "release"}, nil},
	} {
		jobs, err := w.Plan(c.event)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, j := range jobs {
			got = append(got, j.Name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("jobs of %v (-want +got):\n%s", c.event, diff)
		}
	}
}

// files are a repository with one commit.
type files map[string]string

func (files) Resolve(string) (string, bool) { return "", false }

func (f files) Checkout(_ context.Context, dir, _ string, _ bool) error {
	for name, text := range f {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// A job needs only a directory, an environment and a source to check out.
func TestRun(t *testing.T) {
	w, err := Parse([]byte(`
on: push
jobs:
  test:
    env: {NAME: "${{ github.ref_name }}"}
    steps:
      - uses: actions/checkout@v4
      - run: sh ./hello.sh
      - run: exit 3
      - run: echo not reached
`))
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := w.Plan(pushTo("main"))
	if err != nil {
		t.Fatal(err)
	}
	r := New(Config{Dir: t.TempDir(), Shell: "bash", Timeout: time.Minute, Clock: time.Now,
		Logger: slog.New(slog.DiscardHandler)})
	env := map[string]string{"GITHUB_SHA": "0123456789", "GITHUB_REF_NAME": "main"}
	res := r.Run(t.Context(), jobs[0], env, files{"hello.sh": "echo hello from $NAME\n"})
	got := map[string]string{}
	for _, s := range res.Steps {
		got[s.Name] = s.Conclusion
	}
	want := map[string]string{"Set up job": "success", "Run actions/checkout@v4": "success",
		"Run sh ./hello.sh": "success", "Run exit 3": "failure", "Run echo not reached": "skipped", "Complete job": "success"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if res.Conclusion != "failure" || len(res.Annotations) != 1 ||
		res.Annotations[0].Message != "Process completed with exit code 3." {
		t.Errorf("the job is a %s with %v", res.Conclusion, res.Annotations)
	}
	if log := string(res.Log); !strings.Contains(log, "hello from main\n") || strings.Contains(log, "Z not reached\n") {
		t.Errorf("log:\n%s", log)
	}
	if len(env) != 2 {
		t.Errorf("the caller's environment was changed: %v", env)
	}
}

func TestCondition(t *testing.T) {
	contexts := map[string]any{
		"env": map[string]any{"ON": "true"},
		"github": map[string]any{"ref": "refs/heads/main", "event_name": "pull_request", "event": map[string]any{
			"pull_request": map[string]any{"draft": true, "labels": []any{
				map[string]any{"name": "ci"}, map[string]any{"name": "x"}}}}},
		"steps": map[string]any{"a": map[string]any{"outcome": "failure", "conclusion": "success"}},
		"needs": map[string]any{"b": map[string]any{"result": "skipped"}},
	}
	for _, c := range []struct {
		text   any
		failed bool
		want   bool
	}{
		{nil, false, true}, {nil, true, false}, {"always()", true, true}, {"failure()", false, false},
		{"failure()", true, true}, {"success() || failure()", true, true},
		{"github.ref == 'refs/heads/main'", false, true}, {"${{ github.ref != 'refs/heads/main' }}", false, false},
		{"env.ON && success()", false, true}, {"env.OFF || env.ON", false, true}, {"!cancelled()", true, true},
		{true, false, true}, {false, false, false},
		{"github.event.pull_request.draft == false", false, false}, {"!github.event.pull_request.draft", false, false},
		{"github.event_name != 'pull_request' || github.event.pull_request.draft == false", false, false},
		{"contains(github.event.pull_request.labels.*.name, 'CI')", false, true},
		{"contains(fromJSON('[\"push\", \"pull_request\"]'), github.event_name)", false, true},
		{"startsWith(github.ref, 'refs/heads/') && endsWith(github.ref, 'main')", false, true},
		{"format('{0}-{1}', 'a', 2) == 'a-2'", false, true}, {"join(fromJSON('[1,2]'), '+') == '1+2'", false, true},
		{"toJSON(fromJSON('true')) == 'true'", false, true}, {"hashFiles('**/go.sum') != ''", false, true},
		{"steps.a.outcome == 'failure' && steps.a.conclusion == 'success'", false, true},
		{"needs.b.result == 'skipped'", false, true}, {"needs['b'].result == 'success'", false, false},
		{"(1 < 2) && 3 >= 3 && !(2 > 3)", false, true}, {"github.nothing.there == null", false, true},
		{"'it''s' == 'IT''S'", false, true},
	} {
		got, err := condition(c.text, scope{contexts: contexts, failed: c.failed})
		if got != c.want || err != nil {
			t.Errorf("condition(%v, failed %v) is %v, %v", c.text, c.failed, got, err)
		}
	}
	for _, bad := range []string{"a ==", "(a", "nonsense(1)", "a b", "fromJSON('{')", strings.Repeat("!", 100) + "a"} {
		if _, err := condition(bad, scope{}); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

// A matrix makes the jobs in GitHub's documentation.
func TestMatrix(t *testing.T) {
	for _, c := range []struct {
		matrix string
		want   []string
	}{
		{"{os: [a, b], v: [1, 2], exclude: [{os: b, v: 1}]}", []string{"t (a, 1)", "t (a, 2)", "t (b, 2)"}},
		{"{os: [a, b], include: [{os: a, x: 7}, {os: c}]}", []string{"t (a, 7)", "t (b)", "t (c)"}},
		{"{include: [{v: 1}, {v: 2}]}", []string{"t (1)", "t (2)"}},
	} {
		w, err := Parse([]byte("on: push\njobs: {t: {strategy: {matrix: " + c.matrix + "}, steps: [{run: x}]}}"))
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := w.Plan(pushTo("main"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, j := range jobs {
			got = append(got, j.Name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.matrix, diff)
		}
	}
	w, err := Parse([]byte("on: push\njobs: {t: {name: test, strategy: {matrix: {v: [1, 2]}}, steps: [{run: x}]}}"))
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := w.Plan(pushTo("main"))
	if err != nil || len(jobs) != 2 || jobs[0].Name != "test" || jobs[1].Name != "test" {
		t.Errorf("with a name of its own: %+v, %v", jobs, err)
	}
}

func TestTriggers(t *testing.T) {
	pull := func(action string) Event {
		e := pullRequestInto("main")
		e.Payload["action"] = action
		return e
	}
	changed := func(e Event, paths ...string) Event { e.Changed = paths; return e }
	for _, c := range []struct {
		on    string
		event Event
		want  bool
	}{
		{"[push, pull_request]", pushTo("x"), true}, {"[push, pull_request]", pull("opened"), true},
		{"pull_request", pull("ready_for_review"), false}, {"pull_request", pull("labeled"), false},
		{"{pull_request: {types: [opened, ready_for_review]}}", pull("ready_for_review"), true},
		{"{pull_request: {types: [ready_for_review]}}", pull("synchronize"), false},
		{"{push: {paths: ['src/**', '!src/docs/**']}}", changed(pushTo("x"), "README.md"), false},
		{"{push: {paths: ['src/**', '!src/docs/**']}}", changed(pushTo("x"), "src/docs/a.md"), false},
		{"{push: {paths: ['src/**']}}", changed(pushTo("x"), "README.md", "src/a.go"), true},
		{"{push: {paths-ignore: ['**.md']}}", changed(pushTo("x"), "README.md"), false},
		{"{push: {paths-ignore: ['**.md']}}", changed(pushTo("x"), "README.md", "a.go"), true},
		{"{push: {paths: [x]}}", pushTo("x"), true},
	} {
		w, err := Parse([]byte("on: " + c.on + "\njobs: {t: {steps: [{run: x}]}}"))
		if err != nil {
			t.Fatal(err)
		}
		if got := w.triggered(c.event); got != c.want {
			t.Errorf("on: %s starts for %s %s of %v: %v", c.on, c.event.Name, c.event.action(), c.event.Changed, got)
		}
	}
}

// Steps can read the outcomes of earlier steps, and a job those of the jobs that it needs.
func TestOutcomes(t *testing.T) {
	w, err := Parse([]byte(`
on: push
jobs:
  a:
    outputs: {said: "${{ steps.out.outputs.word }}"}
    steps:
      - {id: bad, run: exit 1, continue-on-error: true}
      - {id: out, run: "echo word=${{ steps.bad.outcome }}-${{ steps.bad.conclusion }} >>$GITHUB_OUTPUT"}
      - {run: pwd, working-directory: "${{ github.workspace }}"}
  b:
    needs: a
    if: needs.a.outputs.said == 'failure-success'
    steps: [{run: x}]
`))
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := w.Plan(pushTo("main"))
	if err != nil {
		t.Fatal(err)
	}
	r := New(Config{Dir: t.TempDir(), Shell: "bash", Timeout: time.Minute, Clock: time.Now,
		Logger: slog.New(slog.DiscardHandler)})
	res := r.Run(t.Context(), jobs[0], map[string]string{}, files{})
	if res.Conclusion != "success" || res.Outputs["said"] != "failure-success" {
		t.Fatalf("%s with %v\n%s", res.Conclusion, res.Outputs, res.Log)
	}
	for result, want := range map[string]bool{"success": true, "failure": false, "skipped": false} {
		after := jobs[1].After(map[string]Need{"a": {Result: result, Outputs: res.Outputs}})
		if got, err := after.Wanted(); got != want || err != nil {
			t.Errorf("after a %s: %v, %v", result, got, err)
		}
	}
}

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

// A job needs nothing but a place, an environment and something to check out.
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
	want := map[string]string{"Set up job": "success", "Run actions/checkout@v4": "success", "Run sh ./hello.sh": "success",
		"Run exit 3": "failure", "Run echo not reached": "skipped", "Complete job": "success"}
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
	value := func(s string) string { return map[string]string{"github.ref": "refs/heads/main", "env.ON": "true"}[s] }
	for _, c := range []struct {
		text   any
		failed bool
		want   bool
	}{
		{nil, false, true}, {nil, true, false}, {"always()", true, true}, {"failure()", false, false},
		{"failure()", true, true},
		{"github.ref == 'refs/heads/main'", false, true}, {"${{ github.ref != 'refs/heads/main' }}", false, false},
		{"env.ON && success()", false, true}, {"env.OFF || env.ON", false, true}, {"!cancelled()", true, true},
		{true, false, true}, {false, false, false},
	} {
		if got := condition(c.text, c.failed, value); got != c.want {
			t.Errorf("condition(%v, failed %v) is %v", c.text, c.failed, got)
		}
	}
}

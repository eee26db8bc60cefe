package github

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia/gate"
)

func TestWorkflows(t *testing.T) {
	w := start(t, "/")
	w.json("GET /repos/acme/shop/actions/runs", 200, `{"total_count":3,"workflow_runs":[
		{"id":9,"check_suite_id":4,"path":".github/workflows/ci.yml","name":"CI","event":"push","run_attempt":2,
		 "status":"completed","conclusion":"success","html_url":"http://x/9",
		 "created_at":"2026-01-02T03:04:05Z","head_sha":"abc"},
		{"id":10,"head_sha":"abc","path":".github/workflows/ci.yml@main","event":"pull_request","status":"queued",
		 "workflow_url":"https://api.github.com/repos/acme/shop/actions/required_workflows/3"},
		{"id":8,"head_sha":"def","event":"push","status":"queued","path":"a"}]}`)
	got, known, err := w.repo().Actions.Workflows(context.Background(), "abc")
	if err != nil || !known {
		t.Fatal(known, err)
	}
	want := []gate.Workflow{{ID: 9, SuiteID: 4, Path: ".github/workflows/ci.yml", Name: "CI", Event: "push", Attempt: 2,
		Status: "completed", Conclusion: "success", URL: "http://x/9",
		StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		{ID: 10, Path: ".github/workflows/ci.yml", Repository: gate.AnotherRepository, Event: "pull_request",
			Status: "queued"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	w.json("GET /repos/acme/shop/actions/runs/9/jobs", 200, `{"jobs":[{"id":1,"run_attempt":1},{"id":2,"run_attempt":2}]}`)
	attempts := must[map[int64]int](t)(w.repo().Actions.Attempts(context.Background(), 9))
	if d := cmp.Diff(map[int64]int{1: 1, 2: 2}, attempts); d != "" {
		t.Error(d)
	}
}

// Workflow runs that the app can't see are omitted.
func TestWorkflowsHidden(t *testing.T) {
	w := start(t, "/")
	w.json("GET /repos/acme/shop/actions/runs", 403, `{"message":"Resource not accessible by integration"}`)
	w.json("GET /repos/acme/shop/actions/runs/9/jobs", 404, `{"message":"Not Found"}`)
	if got, known, err := w.repo().Actions.Workflows(context.Background(), "abc"); got != nil || known || err != nil {
		t.Errorf("got %+v, known %v, %v", got, known, err)
	}
	if got := must[map[int64]int](t)(w.repo().Actions.Attempts(context.Background(), 9)); got != nil {
		t.Errorf("got %+v", got)
	}
}

// A combined status identifies its creator by the avatar alone.
func TestStatusApp(t *testing.T) {
	for avatar, want := range map[string]int64{
		"https://avatars.githubusercontent.com/in/15368?v=4": 15368,
		"https://avatars.githubusercontent.com/u/1?v=4":      0,
		"": 0,
	} {
		if got := statusApp(avatar); got != want {
			t.Errorf("%s: %d", avatar, got)
		}
	}
}

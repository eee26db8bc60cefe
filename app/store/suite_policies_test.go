package store_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

func testPolicies(t *testing.T, s *fixture) {
	ctx := patient(t)
	must(t, s.UpsertInstallation(ctx, store.Installation{ID: 3, Account: "octo"}))
	must(t, s.UpsertRepository(ctx, store.Repository{Repo: demo, Installation: 3, DefaultBranch: "main"}))
	files, read, err := s.Policies(ctx, demo.ID)
	if err != nil || len(files) != 0 || read != (store.PolicyRead{}) {
		t.Errorf("before any was read: %v %v %v", files, read, err)
	}
	first := []store.PolicyFile{{Path: ".sia/policies/a.yml", Version: "a/1@1", Source: "a"},
		{Path: ".sia/policies/b.yml", Version: "b/1@1", Source: "b"}}
	must(t, s.SavePolicies(ctx, demo.ID, store.PolicyRead{SHA: "c0ffee"}, first))
	must(t, s.SavePolicies(ctx, demo.ID, store.PolicyRead{SHA: "f00d", Broken: "b.yml: is broken"}, first[1:]))
	files, read, err = s.Policies(ctx, demo.ID)
	must(t, err)
	diff := cmp.Diff(first[1:], files)
	if diff != "" || read != (store.PolicyRead{SHA: "f00d", Broken: "b.yml: is broken"}) {
		t.Errorf("%+v %s", read, diff)
	}

	must(t, s.KeepPolicyVersion(ctx, "a/1@1", "escalate", "a"))
	must(t, s.KeepPolicyVersion(ctx, "a/1@1", "escalate", "never this"))
	if source, err := s.PolicyVersion(ctx, "a/1@1"); err != nil || source != "a" {
		t.Errorf("the version is %q, %v", source, err)
	}
	if _, err := s.PolicyVersion(ctx, "a/2@2"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a version that was never in force: %v", err)
	}
}

func testEnds(t *testing.T, s *fixture) {
	ctx := patient(t)
	for _, e := range []store.TaskEnd{
		{Task: "7-1", Repo: 7, Kind: "bug", Passed: true}, {Task: "7-2", Repo: 7, Kind: "bug"},
		{Task: "7-2", Repo: 7, Kind: "bug", Passed: true, Helped: true}, // a user answered
		{Task: "7-3", Repo: 7, Kind: "docs", Passed: true}, {Task: "8-1", Repo: 8, Kind: "bug", Passed: true},
		{Task: "7-4", Repo: 7, Kind: "bug", Helped: true},
	} {
		must(t, s.RecordTaskEnd(ctx, e))
	}
	alone, helped, err := s.TaskEnds(ctx, 7, "bug")
	must(t, err)
	// Tasks with help did not pass alone, whatever their result.
	if (alone != store.TaskCount{Ended: 3, Passed: 1}) || (helped != store.TaskCount{Ended: 2, Passed: 1}) {
		t.Errorf("alone %+v, helped %+v", alone, helped)
	}

	outcome := store.CoderOutcome{Task: "7-1", Attempt: 1, Repo: 7, Org: "octo", Kind: "bug", Coder: "fast",
		Agent: "builtin/f", Cost: 90, At: at(1).Truncate(1000)}
	must(t, s.RecordCoderOutcome(ctx, outcome))
	again := outcome
	again.Resolved = true
	must(t, s.RecordCoderOutcome(ctx, again)) // the first one is kept
	racer := outcome                          // of the same attempt
	racer.Coder, racer.Agent, racer.Failed, racer.Cost = "slow", "builtin/s", []string{"fast"}, 30
	must(t, s.RecordCoderOutcome(ctx, racer))
	second := outcome
	second.Attempt, second.Coder, second.Failed, second.Resolved = 2, "strong", []string{"fast"}, true
	second.Changed, second.Setup = true, "builtin/s"
	must(t, s.RecordCoderOutcome(ctx, second))
	got, err := s.CoderOutcomesSince(ctx, 0)
	must(t, err)
	outcome.ID, racer.ID, second.ID = 1, 2, 3
	if diff := cmp.Diff([]store.CoderOutcome{outcome, racer, second}, got); diff != "" {
		t.Error(diff)
	}
	if rest, err := s.CoderOutcomesSince(ctx, got[1].ID); err != nil || len(rest) != 1 || rest[0].Coder != "strong" {
		t.Errorf("after the second: %+v, %v", rest, err)
	}
}

func testDecisionsOf(t *testing.T, s *fixture) {
	ctx := patient(t)
	id := begin(t, s, 1)
	for _, d := range []sia.Decision{
		{ID: "a", Type: sia.DecideRecover, Repo: demo.ID}, {ID: "b", Type: sia.DecideEscalate, Repo: demo.ID},
		{ID: "c", Type: sia.DecideRecover, Repo: 8}, {ID: "d", Type: sia.DecideRecover, Repo: demo.ID},
	} {
		d.Task, d.At = id, s.clock.now()
		must(t, s.LogDecision(ctx, d))
	}
	for _, tt := range []struct {
		repo  int64
		limit int
		want  string
	}{{0, 10, "acd"}, {demo.ID, 10, "ad"}, {0, 2, "cd"}} {
		ds, err := s.DecisionsOf(ctx, sia.DecideRecover, tt.repo, tt.limit)
		must(t, err)
		got := ""
		for _, d := range ds {
			got += d.ID
		}
		if got != tt.want {
			t.Errorf("of repository %d, at most %d: %s, want %s", tt.repo, tt.limit, got, tt.want)
		}
	}
}

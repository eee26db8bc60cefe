package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies/evolve"
	"github.com/sia-bot/sia/sia"
)

func testExperiments(t *testing.T, s *fixture) {
	ctx := patient(t)
	must(t, s.UpsertInstallation(ctx, store.Installation{ID: 3, Account: "octo"}))
	must(t, s.UpsertRepository(ctx, store.Repository{Repo: demo, Installation: 3, DefaultBranch: "main"}))
	moment := func(n int) time.Time { return at(n).Truncate(time.Microsecond).UTC() }
	x := store.Experiment{ID: "recover-1-abc", Installation: 3, Place: demo, Alone: true, Layer: 2, Decision: "recover",
		Name: "recover", File: ".sia/policies/recover.yml", Present: "recover/1@1", Candidate: "recover/2@2",
		Change: "a: 1 -> 2", Path: "a", Value: "2", Reason: "r", By: "@ann", Number: 1, Phase: store.ExperimentDrafted,
		Why: "new", Gate: "not replayed", CreatedAt: moment(1)}
	must(t, s.SaveExperiment(ctx, "", x, "drafted it"))
	x.Phase, x.Why, x.Pull, x.PullURL, x.Head, x.Comment = store.ExperimentRunning, "approved", 7, "url", "c0ffee", 9
	x.ApprovedBy, x.StartedAt, x.PromotedAt, x.WatchedAt = "bob", moment(2), moment(3), moment(4)
	must(t, s.SaveExperiment(ctx, store.ExperimentDrafted, x, "it runs"))
	must(t, s.SaveExperiment(ctx, x.Phase, x, "")) // no event
	stale := x
	stale.Why = "stale"
	for _, was := range []store.ExperimentPhase{"", store.ExperimentDrafted} {
		if err := s.SaveExperiment(ctx, was, stale, "stale"); !errors.Is(err, store.ErrStale) {
			t.Errorf("saved as if it was %q: %v", was, err)
		}
	}
	other := x
	other.ID, other.Phase, other.EndedAt, other.Installation = "recover-2-def", store.ExperimentStopped, moment(5), 4
	must(t, s.SaveExperiment(ctx, "", other, "it ended"))
	for _, tt := range []struct {
		installation int64
		open         bool
		want         []store.Experiment
	}{{3, false, []store.Experiment{x}}, {0, false, []store.Experiment{x, other}}, {0, true, []store.Experiment{x}},
		{4, true, nil}} {
		got, err := s.Experiments(ctx, tt.installation, tt.open)
		must(t, err)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("of %d, open %v: %s", tt.installation, tt.open, diff)
		}
	}
	if got, err := s.OpenExperiments(ctx, 3, "assign"); err != nil || len(got) != 0 {
		t.Errorf("of another decision: %v %v", got, err)
	}
	events, err := s.ExperimentEvents(ctx, x.ID)
	must(t, err)
	if len(events) != 2 || events[0].What != "drafted it" || events[1].Phase != store.ExperimentRunning {
		t.Errorf("%+v", events)
	}

	first := store.ExperimentTask{ID: "7-1", Task: evolve.Task{Candidate: true, At: moment(6)}}
	second := store.ExperimentTask{ID: "7-2", Task: evolve.Task{At: moment(7)}}
	for _, row := range []store.ExperimentTask{first, second, {ID: "7-3", Task: evolve.Task{After: true, At: moment(8)}}} {
		if _, err := s.Enrol(ctx, x.ID, row); err != nil {
			t.Fatal(err)
		}
	}
	again := first
	again.Candidate = false // the first assignment is kept
	if stands, err := s.Enrol(ctx, x.ID, again); err != nil || !stands.Candidate {
		t.Errorf("drawn again: %+v %v", stands, err)
	}
	if stands, _, known, err := s.Enrolled(ctx, x.ID, "7-1"); err != nil || !known || !stands.Candidate {
		t.Errorf("%+v %v %v", stands, known, err)
	}
	if _, since, known, err := s.Enrolled(ctx, x.ID, "7-9"); err != nil || known || since != 1 {
		t.Errorf("a task that does not take part: %v, %d since the promotion, %v", known, since, err)
	}
	second.Came, second.Credits, second.Seconds, second.Escalated, second.Tampered = evolve.Failed, 120, 30.5, true, true
	must(t, s.SettleExperimentTasks(ctx, x.ID, []store.ExperimentTask{second}))
	late := second
	late.Came, late.Credits = evolve.Resolved, 1
	must(t, s.SettleExperimentTasks(ctx, x.ID, []store.ExperimentTask{late}))
	rows, err := s.ExperimentTasks(ctx, x.ID)
	must(t, err)
	want := []store.ExperimentTask{first, second, {ID: "7-3", Task: evolve.Task{After: true, At: moment(8)}}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}

func testHolds(t *testing.T, s *fixture) {
	ctx := patient(t)
	moment := at(3).Truncate(time.Microsecond).UTC()
	h := store.PolicyHold{Installation: 3, Place: 7, Decision: "recover", Name: "recover", Bad: "recover/2@2",
		Instead: "recover/1@1", Until: moment, Why: "it fell", At: moment}
	must(t, s.HoldPolicy(ctx, h))
	h.Why, h.By = "still", "ann"
	must(t, s.HoldPolicy(ctx, h))
	holds, err := s.PolicyHolds(ctx, 3)
	must(t, err)
	if diff := cmp.Diff([]store.PolicyHold{h}, holds); diff != "" {
		t.Error(diff)
	}
	if other, err := s.PolicyHolds(ctx, 4); err != nil || len(other) != 0 {
		t.Errorf("another installation's: %v %v", other, err)
	}
	// The app is installed again, or the repository is transferred; then the policy is held once more.
	must(t, s.UpsertInstallation(ctx, store.Installation{ID: 4, Account: "octo"}))
	must(t, s.UpsertRepository(ctx, store.Repository{Repo: demo, Installation: 4, DefaultBranch: "main"}))
	later := h
	later.Installation, later.Bad, later.At = 4, "recover/3@3", moment.Add(time.Hour)
	for _, want := range []store.PolicyHold{h, later} {
		if holds, err = s.PolicyHolds(ctx, 4); err != nil || cmp.Diff([]store.PolicyHold{want}, holds) != "" {
			t.Errorf("of the new installation: %+v, %v", holds, err)
		}
		if holds, err = s.PolicyHolds(ctx, 3); err != nil || len(holds) != 0 {
			t.Errorf("of the former installation: %+v, %v", holds, err)
		}
		must(t, s.HoldPolicy(ctx, later))
	}
}

// The record of a version counts each task once, in its installation or repository, since a time.
func testPolicyRecord(t *testing.T, s *fixture) {
	ctx := patient(t)
	must(t, s.UpsertInstallation(ctx, store.Installation{ID: 3, Account: "octo"}))
	must(t, s.UpsertRepository(ctx, store.Repository{Repo: demo, Installation: 3, DefaultBranch: "main"}))
	task, err := s.Task(ctx, begin(t, s, 1))
	must(t, err)
	must(t, s.KeepPolicyVersion(ctx, "recover/1@1", "recover", "r"))
	for i, typ := range []sia.DecisionType{sia.DecideRecover, sia.DecideRecover, sia.DecideEscalate} {
		policy := "recover/1@1"
		if typ == sia.DecideEscalate {
			policy = "escalate/1@1"
		}
		must(t, s.LogDecision(ctx, sia.Decision{ID: fmt.Sprint("d", i), Task: task.ID, Repo: task.Repo.ID, Type: typ,
			Policy: policy, At: at(5)}))
	}
	must(t, s.RecordTaskEnd(ctx, store.TaskEnd{Task: task.ID, Repo: task.Repo.ID, Kind: "bug", Passed: true}))
	for _, repo := range []int64{0, demo.ID} {
		r, err := s.PolicyRecord(ctx, task.Installation, repo, "recover/1@1", at(1))
		must(t, err)
		if r.Ended != 1 || r.Passed != 1 || r.Since.IsZero() {
			t.Errorf("repository %d: %+v", repo, r)
		}
	}
	for _, none := range []struct {
		installation, repo int64
		policy             string
		after              time.Time
	}{{task.Installation + 1, 0, "recover/1@1", at(1)}, {task.Installation, demo.ID + 1, "recover/1@1", at(1)},
		{task.Installation, 0, "assign/1@1", at(1)}, {task.Installation, 0, "recover/1@1", at(9)}} {
		if r, err := s.PolicyRecord(ctx, none.installation, none.repo, none.policy, none.after); err != nil || r.Ended != 0 {
			t.Errorf("%+v: %+v %v", none, r, err)
		}
	}
	if ds, err := s.DecisionsIn(ctx, task.Installation, sia.DecideRecover, 1); err != nil || len(ds) != 1 ||
		ds[0].ID != "d1" {
		t.Errorf("the last one is %v, %v", ds, err)
	}
	if ds, err := s.DecisionsIn(ctx, task.Installation+1, sia.DecideRecover, 9); err != nil || len(ds) != 0 {
		t.Errorf("another installation's: %v, %v", ds, err)
	}
}

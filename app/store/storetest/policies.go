package storetest

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
	if diff := cmp.Diff(first[1:], files); diff != "" || read != (store.PolicyRead{SHA: "f00d", Broken: "b.yml: is broken"}) {
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
		{Task: "7-2", Repo: 7, Kind: "bug", Passed: true, Helped: true}, // a person answered
		{Task: "7-3", Repo: 7, Kind: "docs", Passed: true}, {Task: "8-1", Repo: 8, Kind: "bug", Passed: true},
		{Task: "7-4", Repo: 7, Kind: "bug", Helped: true},
	} {
		must(t, s.RecordTaskEnd(ctx, e))
	}
	alone, helped, err := s.TaskEnds(ctx, 7, "bug")
	must(t, err)
	if (alone != store.TaskCount{Ended: 1, Passed: 1}) || (helped != store.TaskCount{Ended: 2, Passed: 1}) {
		t.Errorf("alone %+v, helped %+v", alone, helped)
	}

	outcome := store.CoderOutcome{Task: "7-1", Attempt: 1, Repo: 7, Org: "octo", Kind: "bug", Coder: "fast", Agent: "builtin/f",
		Cost: 90, At: at(1).Truncate(1000)}
	must(t, s.RecordCoderOutcome(ctx, outcome))
	again := outcome
	again.Resolved = true
	must(t, s.RecordCoderOutcome(ctx, again)) // the first one stands
	racer := outcome                          // of the same attempt
	racer.Coder, racer.Agent, racer.Failed, racer.Cost = "slow", "builtin/s", []string{"fast"}, 30
	must(t, s.RecordCoderOutcome(ctx, racer))
	second := outcome
	second.Attempt, second.Coder, second.Failed, second.Resolved = 2, "strong", []string{"fast"}, true
	second.Changed = true
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

func testExperiments(t *testing.T, s *fixture) {
	ctx := patient(t)
	must(t, s.UpsertInstallation(ctx, store.Installation{ID: 3, Account: "octo"}))
	must(t, s.UpsertRepository(ctx, store.Repository{Repo: demo, Installation: 3, DefaultBranch: "main"}))
	moment := func(n int) time.Time { return at(n).Truncate(time.Microsecond).UTC() }
	x := store.Experiment{ID: "recover-1-abc", Installation: 3, Place: demo, Alone: true, Layer: 2, Decision: "recover",
		Name: "recover", File: ".sia/policies/recover.yml", Present: "recover/1@1", Candidate: "recover/2@2", Change: "a: 1 -> 2",
		Path: "a", Value: "2", Reason: "r", By: "@ann", Number: 1, Phase: store.ExperimentDrafted, Why: "new", Gate: "not replayed",
		CreatedAt: moment(1)}
	must(t, s.SaveExperiment(ctx, x, "drafted it"))
	x.Phase, x.Why, x.Pull, x.PullURL, x.Head, x.Comment = store.ExperimentRunning, "approved", 7, "url", "c0ffee", 9
	x.ApprovedBy, x.StartedAt, x.PromotedAt, x.WatchedAt = "bob", moment(2), moment(3), moment(4)
	must(t, s.SaveExperiment(ctx, x, "it runs"))
	must(t, s.SaveExperiment(ctx, x, "")) // nothing to note
	other := x
	other.ID, other.Phase, other.EndedAt, other.Installation = "recover-2-def", store.ExperimentStopped, moment(5), 4
	must(t, s.SaveExperiment(ctx, other, "it ended"))
	for _, tt := range []struct {
		installation int64
		open         bool
		want         []store.Experiment
	}{{3, false, []store.Experiment{x}}, {0, false, []store.Experiment{x, other}}, {0, true, []store.Experiment{x}}, {4, true, nil}} {
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

	first := store.ExperimentTask{Task: "7-1", Candidate: true, At: moment(6)}
	second := store.ExperimentTask{Task: "7-2", At: moment(7)}
	for _, row := range []store.ExperimentTask{first, second, {Task: "7-3", After: true, At: moment(8)}} {
		if _, err := s.Enrol(ctx, x.ID, row); err != nil {
			t.Fatal(err)
		}
	}
	again := first
	again.Candidate = false // the lot is not drawn twice
	if stands, err := s.Enrol(ctx, x.ID, again); err != nil || !stands.Candidate {
		t.Errorf("drawn again: %+v %v", stands, err)
	}
	if stands, _, known, err := s.Enrolled(ctx, x.ID, "7-1"); err != nil || !known || !stands.Candidate {
		t.Errorf("%+v %v %v", stands, known, err)
	}
	if _, since, known, err := s.Enrolled(ctx, x.ID, "7-9"); err != nil || known || since != 1 {
		t.Errorf("a task that does not take part: %v, %d since the promotion, %v", known, since, err)
	}
	second.Came, second.Credits, second.Seconds, second.Escalated, second.Tampered = store.TaskFailed, 120, 30.5, true, true
	must(t, s.SettleExperimentTasks(ctx, x.ID, []store.ExperimentTask{second}))
	late := second
	late.Came, late.Credits = store.TaskResolved, 1
	must(t, s.SettleExperimentTasks(ctx, x.ID, []store.ExperimentTask{late}))
	rows, err := s.ExperimentTasks(ctx, x.ID)
	must(t, err)
	want := []store.ExperimentTask{first, second, {Task: "7-3", After: true, At: moment(8)}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}

func testHolds(t *testing.T, s *fixture) {
	ctx := patient(t)
	moment := at(3).Truncate(time.Microsecond).UTC()
	h := store.PolicyHold{Installation: 3, Place: 7, Decision: "recover", Name: "recover", Bad: "recover/2@2", Instead: "recover/1@1",
		Until: moment, Why: "it fell", At: moment}
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
}

// What came of a version's tasks counts each once, in its installation, since a time.
func testPolicyRecord(t *testing.T, s *fixture) {
	ctx := patient(t)
	task := started(t, s)
	must(t, s.KeepPolicyVersion(ctx, "recover/1@1", "recover", "r"))
	for i, typ := range []sia.DecisionType{sia.DecideRecover, sia.DecideRecover, sia.DecideEscalate} {
		policy := "recover/1@1"
		if typ == sia.DecideEscalate {
			policy = "escalate/1@1"
		}
		must(t, s.LogDecision(ctx, sia.Decision{ID: fmt.Sprint("d", i), Task: task.ID, Repo: task.Repo.ID, Type: typ, Policy: policy,
			At: at(5)}))
	}
	must(t, s.RecordTaskEnd(ctx, store.TaskEnd{Task: task.ID, Repo: task.Repo.ID, Kind: "bug", Passed: true}))
	r, err := s.PolicyRecord(ctx, task.Installation, "recover/1@1", at(1))
	must(t, err)
	if r.Ended != 1 || r.Passed != 1 || r.Since.IsZero() {
		t.Errorf("%+v", r)
	}
	for _, none := range []struct {
		installation int64
		policy       string
		after        time.Time
	}{{task.Installation + 1, "recover/1@1", at(1)}, {task.Installation, "assign/1@1", at(1)}, {task.Installation, "recover/1@1", at(9)}} {
		if r, err := s.PolicyRecord(ctx, none.installation, none.policy, none.after); err != nil || r.Ended != 0 {
			t.Errorf("%+v: %+v %v", none, r, err)
		}
	}
	if ds, err := s.DecisionsIn(ctx, task.Installation, sia.DecideRecover, 1); err != nil || len(ds) != 1 || ds[0].ID != "d1" {
		t.Errorf("the last one is %v, %v", ds, err)
	}
	if ds, err := s.DecisionsIn(ctx, task.Installation+1, sia.DecideRecover, 9); err != nil || len(ds) != 0 {
		t.Errorf("another installation's: %v, %v", ds, err)
	}
}

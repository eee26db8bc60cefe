package store_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

func testSharedReports(t *testing.T, s *fixture) {
	ctx := patient(t)
	if _, err := s.LastSharedReport(ctx); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("before any: %v", err)
	}
	first := store.SharedReport{Period: 1, Key: "k", Signed: bytes.Repeat([]byte("counts "), 1000),
		At: at(1).Truncate(1000)}
	must(t, s.SaveSharedReport(ctx, first, []store.SharedTask{{Task: "7-1", Technique: true}, {Task: "7-1"}}))
	second := store.SharedReport{Period: 2, Key: "k", Signed: []byte("more"), At: at(2).Truncate(1000)}
	for name, counted := range map[string][]store.SharedTask{
		"counted before": {{Task: "7-2", Technique: true}, {Task: "7-1"}}, "counted twice": {{Task: "7-2"}, {Task: "7-2"}},
	} {
		if err := s.SaveSharedReport(ctx, second, counted); !errors.Is(err, store.ErrShared) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, period := range []int{0, 1, 3} {
		r := second
		r.Period = period
		if err := s.SaveSharedReport(ctx, r, nil); !errors.Is(err, store.ErrShared) {
			t.Errorf("period %d: %v", period, err)
		}
	}
	got, err := s.LastSharedReport(ctx)
	must(t, err)
	if diff := cmp.Diff(first, got); diff != "" {
		t.Errorf("what was refused left something: %s", diff)
	}
	tasks, err := s.SharedTasks(ctx)
	must(t, err)
	if diff := cmp.Diff([]store.SharedTask{{Task: "7-1"}, {Task: "7-1", Technique: true}}, tasks); diff != "" {
		t.Errorf("what was refused left something: %s", diff)
	}
	must(t, s.SaveSharedReport(ctx, second, []store.SharedTask{{Task: "7-2"}}))
	if got, err = s.LastSharedReport(ctx); err != nil || got.Period != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

func testPriorImports(t *testing.T, s *fixture) {
	ctx := patient(t)
	if id, err := s.PriorsInForce(ctx); err != nil || id != 0 {
		t.Errorf("before any: %d, %v", id, err)
	}
	if err := s.RemovePriors(ctx); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("removed before any: %v", err)
	}
	first := store.PriorImport{Source: "a", Key: "k", Signed: bytes.Repeat([]byte("priors "), 1000),
		At: at(1).Truncate(1000)}
	second := store.PriorImport{Source: "example.com/b@v1.0.0", Key: "k", Signed: []byte("b"), At: at(2).Truncate(1000)}
	for i, v := range []*store.PriorImport{&first, &second} {
		var err error
		v.ID, err = s.ImportPriors(ctx, *v)
		must(t, err)
		if id, err := s.PriorsInForce(ctx); err != nil || id != v.ID || id != int64(i+1) {
			t.Errorf("import %d: %d is in force, %v", i, id, err)
		}
	}
	must(t, s.RemovePriors(ctx))
	if id, err := s.PriorsInForce(ctx); err != nil || id != 0 {
		t.Errorf("after all were removed: %d, %v", id, err)
	}
	for _, want := range []store.PriorImport{first, second} {
		got, err := s.ImportedPriors(ctx, want.ID)
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := s.ImportedPriors(ctx, 99); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
}

func testTaskLanguages(t *testing.T, s *fixture) {
	ctx := patient(t)
	one, two, three := begin(t, s, 1), begin(t, s, 2), begin(t, s, 3)
	for _, d := range []sia.Decision{
		{ID: "a", Task: one, Type: sia.DecideRerun, Context: json.RawMessage(`{"language":"perl"}`)}, // of checks
		{ID: "b", Task: one, Type: sia.DecideDecompose, Context: json.RawMessage(`{}`)},
		{ID: "c", Task: one, Type: sia.DecideAssign, Context: json.RawMessage(`{"language":"go"}`)},
		{ID: "d", Task: one, Type: sia.DecideAssign, Context: json.RawMessage(`{"language":"rust"}`)},
		{ID: "e", Task: two, Type: sia.DecideTechnique, Context: json.RawMessage(`{"language":"java"}`)},
		{ID: "f", Task: three, Type: sia.DecideAssign},
	} {
		must(t, s.LogDecision(ctx, d))
	}
	got, err := s.TaskLanguages(ctx)
	must(t, err)
	if diff := cmp.Diff(map[sia.TaskID]string{one: "go", two: "java"}, got); diff != "" {
		t.Error(diff)
	}
	restored := sia.NewTaskID(demo.ID, 5)
	for _, id := range []sia.TaskID{restored, one} { // the second exists, and is not replaced
		task := sia.Task{ID: id, Version: 9, Installation: 3, Repo: demo, Issue: 5, State: sia.Passed, CreatedAt: at(0)}
		_, err = s.Apply(ctx, id, sia.Event{ID: "reindex", At: at(1), Fact: sia.Restored{Task: task}})
		must(t, err)
	}
	if ids, err := s.RestoredTasks(ctx); err != nil || len(ids) != 1 || ids[0] != restored {
		t.Errorf("rebuilt were %v, %v", ids, err)
	}
}

package store_test

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

func testDecisions(t *testing.T, s *fixture) {
	ctx := patient(t)
	id, other := begin(t, s, 1), begin(t, s, 2)
	first := sia.Decision{
		ID: string(id) + "/1/diagnose-v9", Task: id, Repo: demo.ID, Attempt: 1, Type: sia.DecideTechnique,
		Policy:  "technique/1",
		Context: json.RawMessage(`{"pattern":"wrong-tool"}`), Options: json.RawMessage(`[{"technique":"tool-change"}]`),
		Choice: "tool-change", Propensity: 0.95 + 0.05/3, Reason: "It resolved 7 of 9 here.", At: at(1).Truncate(1000),
	}
	second := sia.Decision{ID: "b", Task: id, Repo: demo.ID, Attempt: 2, Type: sia.DecideRerun, Choice: "yes",
		Propensity: 1, At: at(0).Truncate(1000)}
	for _, d := range []sia.Decision{first, second, {ID: "c", Task: other, Type: sia.DecideInterrupt}} {
		must(t, s.LogDecision(ctx, d))
	}
	again := first
	again.Choice, again.Reason = "fresh-start", "decided anew"
	must(t, s.LogDecision(ctx, again))

	second.Context, second.Options = json.RawMessage(`null`), json.RawMessage(`null`)
	got, err := s.Decisions(ctx, id)
	must(t, err)
	if diff := cmp.Diff([]sia.Decision{first, second}, got); diff != "" {
		t.Error(diff)
	}

	must(t, s.SettleDecision(ctx, first.ID, "resolved", 0.62))
	must(t, s.LogDecision(ctx, first)) // keeps the outcome
	first.Outcome, first.Credit = "resolved", 0.62
	one, err := s.Decision(ctx, first.ID)
	must(t, err)
	if diff := cmp.Diff(first, one); diff != "" {
		t.Error(diff)
	}

	if _, err := s.Decision(ctx, "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a decision that was not made gives %v", err)
	}
	if err := s.SettleDecision(ctx, "none", "resolved", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("settling a decision that was not made gives %v", err)
	}
	for _, bad := range []sia.Decision{{Task: id, Type: "rerun"}, {ID: "d", Task: id},
		{ID: "d", Task: "7-999", Type: "rerun"}} {
		if err := s.LogDecision(ctx, bad); err == nil {
			t.Errorf("logged %+v", bad)
		}
	}
}

func testOutcomes(t *testing.T, s *fixture) {
	ctx := patient(t)
	full := store.Outcome{
		Task: sia.NewTaskID(demo.ID, 1), Intervention: 2, Repo: demo, Pattern: sia.WrongTool, Technique: sia.ToolChange,
		Resolved: true,
		Attempt:  1, Z: -1.25, Confidence: map[string]float64{"tool-change": 0.7, "fresh-start": 0, "decomposition": 0.25},
		Setup: "m1", Decision: "d", At: at(1).Truncate(1000), Imported: store.ImportedTally{Resolved: 1.5, Tried: 60},
	}
	bare := store.Outcome{Task: "7-2", Intervention: 2, Repo: demo, Pattern: "p", Technique: "t"}
	for i, o := range []store.Outcome{full, bare} {
		if isNew, err := s.RecordOutcome(ctx, o); err != nil || !isNew {
			t.Errorf("outcome %d: new %v, %v", i, isNew, err)
		}
	}
	changed := full
	changed.Resolved = false
	if isNew, err := s.RecordOutcome(ctx, changed); err != nil || isNew {
		t.Errorf("the same intervention again: new %v, %v", isNew, err)
	}

	all, err := s.OutcomesSince(ctx, 0)
	must(t, err)
	if len(all) != 2 || all[0].ID <= 0 || all[1].ID <= all[0].ID {
		t.Fatalf("got %+v", all)
	}
	full.ID, bare.ID = all[0].ID, all[1].ID
	if diff := cmp.Diff([]store.Outcome{full, bare}, all); diff != "" {
		t.Error(diff)
	}
	rest, err := s.OutcomesSince(ctx, all[0].ID)
	must(t, err)
	if diff := cmp.Diff(all[1:], rest); diff != "" {
		t.Error(diff)
	}
	if none, err := s.OutcomesSince(ctx, all[1].ID); err != nil || len(none) != 0 {
		t.Errorf("after the last: %v %v", none, err)
	}
}

// testOutcomesAtOnce reads while others write, like a replica: the outcomes read step by step are all outcomes.
func testOutcomesAtOnce(t *testing.T, s *fixture) {
	ctx := patient(t)
	const writers, each = 4, 10
	processes := [...]*store.Store{s.Store, s.beside(t)}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if _, err := processes[w%2].RecordOutcome(ctx,
					store.Outcome{Task: sia.NewTaskID(int64(w), 1), Intervention: i + 1, Pattern: "p", Technique: "t"}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	var seen []store.Outcome
	for last := int64(0); len(seen) < writers*each && ctx.Err() == nil && !t.Failed(); {
		more, err := s.OutcomesSince(ctx, last)
		must(t, err)
		if len(more) > 0 {
			seen, last = append(seen, more...), more[len(more)-1].ID
		}
	}
	wg.Wait()
	all, err := s.OutcomesSince(ctx, 0)
	must(t, err)
	if diff := cmp.Diff(all, seen); diff != "" {
		t.Error(diff)
	}
	if !slices.IsSortedFunc(all, func(a, b store.Outcome) int { return int(a.ID - b.ID) }) {
		t.Error("outcomes are out of order")
	}
}

package learn

import (
	"testing"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/sia"
)

// The preview is the coder that resolves this kind of task here at the lowest price; another repository's outcomes
// count for less, and nothing is logged.
func TestPreviewAssign(t *testing.T) {
	s := database(t)
	d := decider(t, s)
	set := policies.ShippedSet()
	both := []coder.Candidate{{Coder: "small", Cost: 1}, {Coder: "large", Cost: 3}}
	first := func(kind policies.Kind) (coder.Option, string) {
		t.Helper()
		ranked, why, err := d.PreviewAssign(t.Context(), set, shop, sia.DefaultSettings(), kind, both)
		if err != nil || len(ranked) != 2 {
			t.Fatalf("%+v, %v", ranked, err)
		}
		return ranked[0], why
	}
	for issue := 1; issue <= 40; issue++ {
		for _, c := range []struct {
			name string
			cost sia.Credits
			good bool
		}{{"small", sia.Credit, false}, {"large", 3 * sia.Credit, true}} {
			o := store.CoderOutcome{Task: sia.NewTaskID(shop.ID, issue), Attempt: 1, Repo: shop.ID, Org: shop.Owner,
				Kind: string(policies.KindBug), Coder: c.name, Cost: c.cost, Resolved: c.good, At: d.now()}
			if err := s.RecordCoderOutcome(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, why := first(policies.KindBug); got.Coder != "large" || got.Here.Tried == 0 || got.Chance < .7 || why == "" {
		t.Errorf("of a bug: %+v; %s", got, why)
	}
	if all, err := s.LastDecisions(t.Context(), store.SeesAll(), 0, sia.DecideAssign, 10); err != nil || len(all) > 0 {
		t.Errorf("%d decisions were logged, %v", len(all), err)
	}
}

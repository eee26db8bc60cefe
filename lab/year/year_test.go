//test:plain
package year_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/lab/year"
	"github.com/sia-bot/sia/policies"
)

// database opens an empty one.
func database(t testing.TB) func(func() time.Time) (*store.Store, error) {
	return func(now func() time.Time) (*store.Store, error) {
		return storetest.Open(t, store.Config{Logger: slog.New(slog.DiscardHandler), Now: now}), nil
	}
}

// A short year works like a long one: every event has a reason, and no harmful change
// is in force at its end.
func TestYear(t *testing.T) {
	spec := year.Default(7)
	spec.Days, spec.PerDay, spec.Good, spec.Harmful = 60, 20, .6, .4
	spec.Decisions = []policies.Type{policies.TypeRecover, policies.TypeEscalate}
	r, err := year.Play(t.Context(), spec, database(t))
	if err != nil {
		t.Fatal(err)
	}
	n := r.Ended
	if r.Tasks != 1200 || r.Proposed == 0 || r.Steps < 2*r.Proposed || r.HarmLeft != 0 || n.PromotedHarmful != 0 ||
		n.PromotedGood+n.StoppedHarmful == 0 {
		t.Errorf("%+v", r)
	}
	again, err := year.Play(t.Context(), spec, database(t))
	if diff := cmp.Diff(r, again); diff != "" || err != nil {
		t.Errorf("the same seed gives another year: %v\n%s", err, diff)
	}
}

package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
)

func testFlips(t *testing.T, s *fixture) {
	ctx := patient(t)
	if own, all, err := s.FlipCounts(ctx, demo.ID); err != nil || len(own) != 0 || all != (store.FlipCount{}) {
		t.Errorf("before anything was seen: %v %v %v", own, all, err)
	}
	must(t, s.SaveFlips(ctx, demo.ID, "a", store.Flip{Check: "test"}, store.Flip{Check: "lint"}))
	must(t, s.SaveFlips(ctx, demo.ID, "b", store.Flip{Check: "test", Flipped: true}))
	must(t, s.SaveFlips(ctx, demo.ID, "b", store.Flip{Check: "test"}))                // a flip is permanent
	must(t, s.SaveFlips(ctx, demo.ID, "a", store.Flip{Check: "lint", Flipped: true})) // failed later
	must(t, s.SaveFlips(ctx, 8, "a", store.Flip{Check: "test", Flipped: true}))
	must(t, s.SaveFlips(ctx, demo.ID, "c"))
	own, all, err := s.FlipCounts(ctx, demo.ID)
	must(t, err)
	want := []store.FlipCount{{Check: "lint", Commits: 1, Flips: 1}, {Check: "test", Commits: 2, Flips: 1}}
	if diff := cmp.Diff(want, own); diff != "" {
		t.Error(diff)
	}
	if (all != store.FlipCount{Commits: 4, Flips: 3}) {
		t.Errorf("all together: %+v", all)
	}

	s.clock.reach(s.clock.now().Add(time.Hour))
	must(t, s.SaveFlips(ctx, demo.ID, "d", store.Flip{Check: "test"}))
	must(t, s.PruneFlips(ctx, s.clock.now().Add(-time.Minute)))
	if own, _, err := s.FlipCounts(ctx, demo.ID); err != nil || len(own) != 1 || own[0].Commits != 1 {
		t.Errorf("after those that are old were pruned: %+v, %v", own, err)
	}
}

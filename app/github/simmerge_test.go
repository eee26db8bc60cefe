package github_test

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sim/ghsim"
)

// A merge that is impossible is refused with GitHub's reason, and a possible one happens once.
func TestSimulatedMerge(t *testing.T) {
	s := open(t, ghsim.Config{})
	ctx := t.Context()
	head, err := s.sim.PushFiles(full, "change", "ann", "A change", map[string]string{"a.txt": "a\n"})
	check(t, err)
	pull, err := s.repo.EnsurePull(ctx, github.NewPull{Head: "change", Base: "main", Title: "A change"})
	check(t, err)
	if merged, why, err := s.repo.Merge(ctx, pull.Number, s.head); merged || err != nil ||
		!strings.Contains(why, "modified") {
		t.Errorf("another head: %v %q %v", merged, why, err)
	}
	check(t, s.sim.SetRuleset(full, "main", "test"))
	if merged, why, err := s.repo.Merge(ctx, pull.Number, head); merged || err != nil ||
		!strings.Contains(why, `"test" is expected`) {
		t.Errorf("without its checks: %v %q %v", merged, why, err)
	}
	check(t, s.sim.SetRuleset(full, "main"))
	if merged, why, err := s.repo.Merge(ctx, pull.Number, head); !merged || err != nil {
		t.Errorf("%v %q %v", merged, why, err)
	}
	now, err := s.repo.Pull(ctx, pull.Number)
	if err != nil || !now.Merged || now.State != "closed" {
		t.Errorf("%+v %v", now, err)
	}
	if merged, _, err := s.repo.Merge(ctx, pull.Number, head); merged || err != nil {
		t.Errorf("once more: %v %v", merged, err)
	}
	check(t, s.repo.Close(ctx, pull.Number))
}

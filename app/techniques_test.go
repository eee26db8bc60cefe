package app_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia/technique"
)

// The policy that chooses techniques knows only names. Its table is the ranks in
// the front matter of the techniques that ship: one can't be changed without the other.
func TestTechniquePolicyAgreesWithTheLibrary(t *testing.T) {
	library, errs := technique.LoadLibrary(nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	want := map[string]map[string]int{}
	for _, tech := range library.All() {
		for pattern, rank := range tech.Ranks {
			if want[string(pattern)] == nil {
				want[string(pattern)] = map[string]int{}
			}
			want[string(pattern)][string(tech.ID)] = rank
		}
	}
	policy, err := policies.ShippedTechnique()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, policy.Rules.Ranks); diff != "" {
		t.Errorf("library and policies/defaults/technique.yml differ (-library +policy):\n%s", diff)
	}
}

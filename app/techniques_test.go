package app_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/technique"
)

// A repository's technique that is too long is ignored like an invalid one, and tasks continue.
func TestATechniqueThatIsTooLong(t *testing.T) {
	t.Parallel()
	s := shop(t, "repository-technique")
	push(t, s, "main", map[string]string{".sia/techniques/long.md": strings.Repeat("Try harder.\n", 6000)})
	task, started := labelled(t, s, "sia")
	if !started || task.State != sia.Passed || len(task.Interventions) != 1 {
		t.Fatalf("started: %v, %s after %d interventions: %s", started, task.State, len(task.Interventions), task.Warning)
	}
	if said := task.Interventions[0].Warning; !strings.Contains(said, "long.md") {
		t.Errorf("the comment warns: %s", said)
	}
}

// The policy that chooses techniques contains only names. Its table has the ranks in the front matter of the shipped
// techniques: they have to be changed together.
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
	policy := policies.ShippedTechnique()
	if diff := cmp.Diff(want, policy.Rules.Ranks); diff != "" {
		t.Errorf("library and policies/defaults/technique.yml differ (-library +policy):\n%s", diff)
	}
}

package trial

import (
	"testing"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
)

// People approve each change that may decide whether they are asked.
func TestChangesThatConcernPeople(t *testing.T) {
	for _, c := range []struct {
		decision    policies.Type
		path, value string
		want        bool
	}{
		{policies.TypeEscalate, "parameters.threshold", "0.8", true},
		{policies.TypeDecompose, "parameters.threshold", "0.8", false},
		{policies.TypeRecover, "parameters.base.retry", "0.4", false},
		{policies.TypeRecover, "parameters.base.person", "-1", true},
		{policies.TypeRecover, "parameters.base.abandon", "1", true},
		{policies.TypeRecover, "parameters.base", "{sia: 0.5, person: -1}", true},
		{policies.TypeRecover, "rules.1.bonus.rerun", "0.8", false},
		{policies.TypeRecover, "rules.2.bonus", "{person: 0.1}", true},
		{policies.TypeRecover, "rules.2.when.class", "[network]", true},
	} {
		p := policies.ShippedSet().For(c.decision, policies.Context{})
		candidate, err := policies.Mutate(p, policies.Mutation{Path: c.path, Value: c.value})
		if err != nil {
			t.Fatal(err)
		}
		x := store.Experiment{Decision: string(c.decision), Path: c.path, Change: changeText(p, candidate)}
		if got := concernsPeople(x); got != c.want {
			t.Errorf("%s: %t", x.Change, got)
		}
	}
}

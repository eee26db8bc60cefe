package trial

import (
	"context"
	"testing"
	"time"

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

// A question is begun if it can be answered: within its time limit, or as fast as those before.
func TestTimeForAnotherQuestion(t *testing.T) {
	for _, c := range []struct {
		slowest, left time.Duration
		want          bool
	}{
		{0, 9 * time.Minute, true}, {0, 7 * time.Minute, false}, {time.Minute, 3 * time.Minute, true},
		{2 * time.Minute, 3 * time.Minute, false}, {7 * time.Minute, 9 * time.Minute, true}, {time.Second, -1, false},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), c.left)
		if got := (&askTime{c.slowest}).isLeft(ctx); got != c.want {
			t.Errorf("%s left, and the slowest took %s: %t", c.left, c.slowest, got)
		}
		cancel()
		if (&askTime{c.slowest}).isLeft(ctx) {
			t.Error("a question is begun after the end")
		}
	}
}

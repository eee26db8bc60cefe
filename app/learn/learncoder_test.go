package learn

import (
	"fmt"
	"testing"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/sia"
)

// A coder with a new model starts with a quarter of its evidence. Returning to an earlier model, or alternating between
// two, as with repositories with and without a command, discounts nothing.
func TestAModelThatComesBack(t *testing.T) {
	configured := ""
	tried := func(names ...string) float64 {
		t.Helper()
		by := policies.ShippedAssign()
		l := coder.New(by.Parameters)
		agents := map[string][]string{}
		for i := range 80 {
			o := store.CoderOutcome{Task: sia.TaskID(fmt.Sprint(i)), Org: "o", Repo: 7, Coder: "a", Resolved: true,
				Setup: configured, Agent: names[min(i/(80/len(names)), len(names)-1)]}
			learnCoder(l, agents, o)
		}
		d := l.Decide(coder.Request{Task: "new", Org: "o", Repo: "7", Candidates: []coder.Candidate{{Coder: "a"}}})
		return d.Options[0].Here.Tried
	}
	once := tried("old", "new")
	if once >= 80 || tried("old", "old") != 80 || tried("", "old") != 80 {
		t.Errorf("of 80 outcomes count %v with a new model, %v with the same", once, tried("old", "old"))
	}
	turns := make([]string, 80)
	for i := range turns {
		turns[i] = []string{"builtin/m", "command/m"}[i%2]
	}
	if got := tried(turns...); got < 79 {
		t.Errorf("of 80 outcomes of two agents that take turns count %v", got)
	}
	configured = "builtin/a"
	if got := tried("builtin/a", "builtin/a+b", "builtin/b", "builtin/b+a"); got != 80 {
		t.Errorf("of 80 outcomes count %v after another model answered for a while", got)
	}
	configured = ""
	if got := tried("old", "new", "old", "old"); got <= 20+20+20-1 {
		t.Errorf("of 80 outcomes, 60 of them since the model came back or changed, count %v", got)
	}
}

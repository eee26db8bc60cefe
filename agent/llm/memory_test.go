package llm_test

import (
	"encoding/json"
	"testing"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sim/flavour"
)

// What was learned is remembered: a client that is made later begins with it.
func TestMemory(t *testing.T) {
	s := flavour.Start(flavour.Stateful()[0])
	t.Cleanup(s.Close)
	var saved map[string]llm.Learned
	c := dialTo(t, s, func(c *llm.Config) {
		c.Memory = llm.NewMemory(nil, func(all map[string]llm.Learned) { saved = all })
	})
	if _, _, err := converse(t, c, nil); err != nil || len(saved) != 1 {
		t.Fatalf("saved %v, %v", saved, err)
	}
	b, err := json.Marshal(saved)
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]llm.Learned
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	before := len(s.Asks())
	again := dialTo(t, s, func(c *llm.Config) { c.Memory = llm.NewMemory(back, nil) })
	said, _, err := converse(t, again, nil)
	if n := len(s.Asks()) - before; err != nil || n != len(said) {
		t.Errorf("%d requests for %d answers: %v", n, len(said), err)
	}
}

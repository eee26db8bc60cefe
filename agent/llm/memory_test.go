package llm_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sim/flavour"
)

// One effort that is refused says nothing of another.
func TestAnotherEffort(t *testing.T) {
	s := flavour.Start(flavour.Flavour{Refuse: func(_ *flavour.Server, a flavour.Ask) (int, string) {
		if a.Body["reasoning_effort"] == "minimal" {
			return http.StatusBadRequest,
				flavour.Words("Unsupported value: 'reasoning_effort' does not support 'minimal' with this model.")
		}
		return 0, ""
	}})
	t.Cleanup(s.Close)
	memory := &llm.Memory{}
	for _, effort := range []string{"minimal", "high", "minimal"} {
		c := dialTo(t, s, func(c *llm.Config) { c.Memory, c.Reasoning = memory, effort })
		if _, err := c.Complete(t.Context(), ask("x")); err != nil {
			t.Fatal(err)
		}
	}
	for effort, want := range map[string]int{"minimal": 1, "high": 0, "": 0} {
		c := dialTo(t, s, func(c *llm.Config) { c.Memory, c.Reasoning = memory, effort })
		if said := c.Weaker(); len(said) != want {
			t.Errorf("asked for %q, told %q", effort, said)
		}
	}
	var asked []any
	for _, a := range s.Asks() {
		asked = append(asked, a.Body["reasoning_effort"])
	}
	if d := cmp.Diff([]any{"minimal", nil, "high", nil}, asked); d != "" {
		t.Errorf("efforts (-want +got):\n%s", d)
	}
}

// Efforts that an endpoint names without quotes are read as well, after the words that begin their list.
func TestEffortsWithoutQuotes(t *testing.T) {
	for _, words := range []string{
		`reasoning effort level "max" not supported, valid levels: low, medium, high, xhigh`,
		"Invalid reasoning effort: max. Supported values: low, medium, high, xhigh",
		"reasoning_effort must be one of [low, medium, high, xhigh], got max",
	} {
		s := flavour.Start(flavour.Flavour{Refuse: func(_ *flavour.Server, a flavour.Ask) (int, string) {
			if a.Body["reasoning_effort"] == "max" {
				return http.StatusBadRequest, flavour.Words(words)
			}
			return 0, ""
		}})
		t.Cleanup(s.Close)
		c := dialTo(t, s, func(c *llm.Config) { c.Reasoning = "max" })
		if _, err := c.Complete(t.Context(), ask("x")); err != nil {
			t.Fatal(err)
		}
		if asks := s.Asks(); asks[len(asks)-1].Body["reasoning_effort"] != "xhigh" {
			t.Errorf("%s: asked for %v", words, asks[len(asks)-1].Body["reasoning_effort"])
		}
	}
}

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

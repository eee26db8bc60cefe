package app

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sim/flavour"
)

// The pages show of a model what attempts have found since it was probed.
func TestProbedIsAsFoundSince(t *testing.T) {
	refuse := false
	s := flavour.Start(flavour.Flavour{Say: flavour.Probed, Refuse: func(_ *flavour.Server, a flavour.Ask) (int, string) {
		if refuse && a.Body["reasoning_effort"] != nil {
			return 400, flavour.Words("unsupported parameter: reasoning_effort")
		}
		return 0, ""
	}})
	t.Cleanup(s.Close)
	m := ModelConfig{Name: "coder", URL: s.URL, Model: "m", Reasoning: "high"}
	memory := NewModelMemory("", nil)
	if p := m.Probe(t.Context(), nil, memory); !p.Usable || p.Weaker != nil {
		t.Fatalf("%+v", p)
	}
	refuse = true
	m.memory = memory.Memory
	client, err := m.Client(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Complete(t.Context(), llm.Request{Messages: []llm.Message{
		{Role: llm.RoleUser, Content: "Go on."}}}); err != nil {
		t.Fatal(err)
	}
	list := modelProbes{[]ModelConfig{m}, memory}.Probed()
	if len(list) != 1 || !strings.Contains(list[0].Told(), "the reasoning effort high is refused") {
		t.Errorf("%+v", list)
	}
}

package coder_test

import (
	"os"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/coder"
)

func TestShippedTable(t *testing.T) {
	table := policies.ShippedCoders()
	for name, want := range map[string]string{
		"openai/gpt-5-mini-2025-08-07":       "GPT-5 mini (2025-08-07) (medium reasoning)",
		"GPT-5":                              "GPT-5 (2025-08-07) (medium reasoning)",
		"anthropic/claude-opus-4-5-20251101": "Claude 4.5 Opus medium (20251101)",
		"o4-mini":                            "o4-mini (2025-04-16)",
		"openrouter/z-ai/glm-4.6":            "GLM-4.6 (T=1)",
		"gpt-5-turbo":                        "",
		"":                                   "",
	} {
		if got, ok := table.Of(name); got.Name != want || ok != (want != "") {
			t.Errorf("%q is %q, want %q", name, got.Name, want)
		}
	}
	if got, _ := table.Of("gpt-5"); !(got.Resolved > .5 && got.Resolved < .8 && got.Cost > 10 && got.Cost < 60) {
		t.Errorf("gpt-5 is %+v", got)
	}
}

// Each row of the shipped table has numbers within their ranges and unique names.
func TestShippedRows(t *testing.T) {
	source, err := os.ReadFile("../defaults/coders.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Until  string
		Coders []coder.Known
	}
	if err := yaml.Unmarshal(source, &file); err != nil {
		t.Fatal(err)
	}
	if _, err := time.Parse("2006-01", file.Until); err != nil || len(file.Coders) == 0 {
		t.Errorf("%d models until %v", len(file.Coders), err)
	}
	table := policies.ShippedCoders()
	for _, k := range file.Coders {
		if !(k.Resolved > 0.003 && k.Resolved < 0.99 && k.Cost > 0 && k.Calls >= 0) {
			t.Errorf("out of its ranges: %+v", k)
		}
		for _, name := range append([]string{k.Name}, k.Also...) {
			if got, _ := table.Of(name); got.Name != k.Name || name == "" {
				t.Errorf("%q of %s is %q", name, k.Name, got.Name)
			}
		}
	}
}

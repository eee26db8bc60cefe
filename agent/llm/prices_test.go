package llm_test

import (
	"testing"

	"github.com/sia-bot/sia/agent/llm"
)

func TestKnownPrice(t *testing.T) {
	for name, input := range map[string]float64{
		"gpt-5.4": 2.5, "gpt-5.4-2026-03-05": 2.5, "openai/gpt-5.4-mini": 0.75, "claude-sonnet-4-5-20250929": 3,
		"anthropic/claude-opus-4.6": 5, "anthropic.claude-haiku-4-5-20251001-v1:0": 1, "GPT-4o": 2.5,
		"google/gemini-2.5-pro": 1.25, "gpt-5.1-codex-max": 1.25,
		"claude-opus-4-20250514": 15, "claude-sonnet-4@20250514": 3, "o3-2025-04-16": 2, "devstral-latest": 0.4,
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0": 3, "us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0": 3,
		"bedrock/global.anthropic.claude-opus-4-5-20251101-v1:0": 5, "my.anthropic-model": 0,
		"x-ai/grok-4-fast": 0.2,
		"gpt-5.4-turbo":    0, "my-gpt-5": 0, "": 0, "gpt-5-": 0,
	} {
		if p, ok := llm.KnownPrice(name); p.Input != input || ok != (input > 0) {
			t.Errorf("%s: %+v, %v; want %v", name, p, ok, input)
		}
	}
}

// The three prices of prompt tokens, and reasoning as output.
func TestPriceOfCacheWrites(t *testing.T) {
	p := llm.Price{Input: 3, CachedInput: 0.3, CacheWrite: 3.75, Output: 15}
	u := llm.Usage{Input: 1_000_000, CachedInput: 800_000, CacheWrite: 150_000, Output: 10_000}
	want := 0.05*3 + 0.8*0.3 + 0.15*3.75 + 0.01*15
	if got := p.Cost(u); got < want-1e-9 || got > want+1e-9 {
		t.Errorf("%v, want %v", got, want)
	}
	if got := p.Prompt(1_000_000); got != 3.75 {
		t.Errorf("a prompt may cost %v, want the dearest way", got)
	}
}

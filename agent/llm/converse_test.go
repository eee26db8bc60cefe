package llm_test

import (
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sim/flavour"
)

// After an answer that was cut off while thinking, the question is repeated with the raised limit.
func TestConverseAfterALongThought(t *testing.T) {
	cut := 0
	s := flavour.Start(flavour.Flavour{
		Say: func(a flavour.Ask) flavour.Turn {
			if cut = int(a.Body["max_tokens"].(float64)); cut < 12_000 {
				return flavour.Turn{}
			}
			cut = 0
			return flavour.Turn{Text: `{"ok": "yes"}`}
		},
		Message: func(map[string]any) string {
			if cut > 0 {
				return "length"
			}
			return ""
		},
		Usage: func(b flavour.Bill) map[string]any {
			return map[string]any{"prompt_tokens": b.Input, "completion_tokens": b.Output + cut}
		}})
	t.Cleanup(s.Close)
	_, err := llm.Converse(t.Context(), dialTo(t, s), llm.Question{Messages: ask("x").Messages, Within: time.Minute,
		Schema: &llm.Schema{Name: "x", JSON: []byte(`{"type":"object"}`)}}, func([]byte) error { return nil })
	if err != nil {
		t.Error(err)
	}
}

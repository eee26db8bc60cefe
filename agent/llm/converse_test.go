package llm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sim/flavour"
	"github.com/sia-bot/sia/sim/scripted"
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
	c := dialTo(t, s, func(c *llm.Config) { c.Price = llm.Price{Input: 1, Output: 10} })
	chain, err := llm.NewChain(c, dialTo(t, s))
	if err != nil {
		t.Fatal(err)
	}
	used, err := llm.Converse(t.Context(), chain, question(), func([]byte) error { return nil })
	if err != nil || used.Output < llm.DefaultMaxOutput || used.USD < 0.08 {
		t.Errorf("used %+v: %v", used, err)
	}
}

func question() llm.Question {
	return llm.Question{Messages: ask("x").Messages, Within: time.Minute,
		Schema: &llm.Schema{Name: "x", JSON: []byte(`{"type":"object"}`)}}
}

// If there is no answer, the reason says whether the model was reached.
func TestConverseWithoutAnAnswer(t *testing.T) {
	for want, a := range map[string]scripted.Answer{
		"the model gave no answer: call model coder: malformed: the model's provider withheld": {
			Finish: llm.FinishContentFilter, Usage: &scripted.Usage{Input: 100}},
		"the model could not be asked: call model coder: auth": {Fault: &scripted.Fault{Status: 401}},
	} {
		c, _, _ := serve(t, one(a))
		_, err := llm.Converse(t.Context(), c, question(), func([]byte) error { return nil })
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

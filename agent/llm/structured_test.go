package llm_test

import (
	"encoding/json"
	"testing"

	"github.com/sia-bot/sia/agent/llm"
)

func TestExtractJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}`:                           `{"a":1}`,
		"  {\"a\":1}\n":                     `{"a":1}`,
		"```json\n{\"a\":{\"b\":2}}\n```":   `{"a":{"b":2}}`,
		`first {"a":1} then {"a":1,"b":2}.`: `{"a":1,"b":2}`,
		`{ not this } but {"a":"}"} is one`: `{"a":"}"}`,
		`<think>{"x":</think>{"a":1}`:       `{"a":1}`,
		`[{"a":1}]`:                         `{"a":1}`,
		`{"a":1`:                            "",
		`no object`:                         "",
		``:                                  "",
		`"text"`:                            "",
	} {
		got, err := llm.ExtractJSON(text)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("ExtractJSON(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
}

func FuzzExtractJSON(f *testing.F) {
	for _, s := range []string{`{"a":1}`, "```json\n{}\n```", `{{{{`, `{"a":"\ud800"}`, "x{\"a\":[{}]}y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := llm.ExtractJSON(text)
		if err != nil {
			return
		}
		var v map[string]any
		if err := json.Unmarshal(got, &v); err != nil {
			t.Errorf("%q: %v", got, err)
		}
		again, err := llm.ExtractJSON(string(got))
		if err != nil || string(again) != string(got) {
			t.Errorf("not idempotent: %q then %q, %v", got, again, err)
		}
	})
}

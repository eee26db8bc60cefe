package llm_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sim/flavour"
)

// The refusal of one effort does not affect another.
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

// Real messages of endpoints that refuse an effort, and the effort that is requested next. If no lower one exists, it
// is the next higher one, since a model's default may be much higher.
func TestRefusedEfforts(t *testing.T) {
	for _, c := range []struct {
		source, wanted, words string
		status                int
		want                  any // nil: the model's default
	}{
		{"https://github.com/nguyenphutrong/quotio/issues/287", "max",
			`level "max" not supported, valid levels: low, medium, high, xhigh`, 400, "xhigh"},
		{"https://github.com/router-for-me/CLIProxyAPI/pull/1798", "medium",
			`level "medium" not supported, valid levels: low, high`, 400, "low"},
		{"https://github.com/immersive-translate/immersive-translate/issues/3797", "minimal",
			`level "minimal" not supported, valid levels: low, medium, high`, 400, "low"},
		{"https://github.com/router-for-me/CLIProxyAPI/issues/1307", "xhigh",
			"1 validation error for `reasoning_effort`: expected one of `'low' | 'medium' | 'high'`, received `'xhigh'`", 400,
			"high"},
		{"https://github.com/router-for-me/CLIProxyAPI/issues/1572", "xhigh",
			`1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': "Input should be ` +
				`'low', 'medium' or 'high'", 'input': 'xhigh', 'ctx': {'expected': "'low', 'medium' or 'high'"}}`, 400, "high"},
		{"https://github.com/ls1intum/edutelligence/issues/749", "high",
			"Unexpected reasoning effort high. Supported types are xhigh (default), medium, and low.", 500, "medium"},
		{"https://github.com/liliMozi/openhanako/issues/2092", "medium", "Unsupported value: 'reasoning_effort' does not " +
			"support 'medium' with this model. Supported values are: 'low', 'high', and 'max'.", 400, "low"},
		{"https://github.com/Kilo-Org/cloud/pull/3807", "none", "Unsupported value: 'reasoning_effort' does not support " +
			"'none' with this model. Supported values are: 'minimal', 'low', 'medium', and 'high'.", 400, "minimal"},
		{"https://platform.openai.com/docs/api-reference/chat", "minimal", "Unsupported value: 'reasoning_effort' does not " +
			"support 'minimal' with this model. Supported values are: 'none', 'low', 'medium', and 'high'.", 400, "low"},
		{"https://github.com/heyhuynhgiabuu/proxypal/issues/170", "medium",
			"Thinking level MEDIUM is not supported for this model.", 400, nil},
		{"https://github.com/jenslys/opencode-gemini-auth/issues/14", "medium", "Unable to submit request because " +
			"thinking_level MEDIUM is not supported by this model.", 400, nil},
		{"https://console.groq.com/docs/reasoning", "high",
			"`reasoning_effort` must be one of `none` or `default`", 400, nil},
	} {
		s := flavour.Start(flavour.Flavour{Refuse: func(_ *flavour.Server, a flavour.Ask) (int, string) {
			if a.Body["reasoning_effort"] == c.wanted {
				return c.status, flavour.Words(c.words)
			}
			return 0, ""
		}})
		t.Cleanup(s.Close)
		client := dialTo(t, s, func(f *llm.Config) { f.Reasoning = c.wanted })
		if _, err := client.Complete(t.Context(), ask("x")); err != nil {
			t.Errorf("%s: %v", c.source, err)
			continue
		}
		asks := s.Asks()
		if got := asks[len(asks)-1].Body["reasoning_effort"]; got != c.want || len(asks) != 2 || len(client.Weaker()) != 1 {
			t.Errorf("%s: %d requests, the last for %v, want %v; %q", c.source, len(asks), got, c.want, client.Weaker())
		}
	}
}

// Lessons are remembered: a client that is created later uses them.
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

package llm_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sim/flavour"
)

// Probe reports what works with each flavour, and the reasons for what does not.
func TestProbe(t *testing.T) {
	for _, f := range flavour.All() {
		t.Run(f.Name, func(t *testing.T) {
			f.Say = flavour.Probed
			s := flavour.Start(f)
			t.Cleanup(s.Close)
			c := dialTo(t, s)
			got := c.Probe(t.Context(), []llm.ToolSpec{readTool})
			if f.Fails != "" {
				if got.Usable || got.Advice == "" {
					t.Errorf("%+v", got)
				}
				return
			}
			if !got.Usable || !got.Tools || !got.Cached && !f.Free && f.Weaker != "cache" {
				t.Errorf("%+v", got)
			}
			if strings.Contains(f.Name, "OpenAI") && f.Weaker == "" && !f.Apart && !got.Strict {
				t.Error("answers are held to a schema, which is not seen")
			}
			if !got.ReasoningKept && f.Opaque != nil && f.Weaker == "" && !f.Apart {
				t.Error("the reasoning is not kept")
			}
			if sum, _ := s.Bill(); !f.Free && (got.Usage.Input != sum.Input || got.Usage.Output != sum.Output) {
				t.Errorf("usage %+v, bill %+v", got.Usage, sum)
			}
		})
	}
}

// A model that does not answer is reported as unusable, with the reason, within its timeout.
func TestProbeOfOneThatDoesNotAnswer(t *testing.T) {
	for name, reply := range map[string]func(http.ResponseWriter, *http.Request){
		"garbage": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for range 20_000 {
				fmt.Fprintln(w, "lorem ipsum dolor")
			}
		},
		"silent": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // after this, the server notices that the client is gone
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := newServer(t, reply)
			c, _ := dial(t, srv, func(c *llm.Config) { c.Timeout, c.Retries = 300*time.Millisecond, -1 })
			if got := c.Probe(t.Context(), []llm.ToolSpec{readTool}); got.Usable || got.Advice == "" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// An endpoint that truncates prompts is detected by equal token counts for a longer conversation
// (https://github.com/esengine/DeepSeek-Reasonix/pull/10245). A provider that withholds its answer is not reported as a
// model without tools.
func TestProbeSaysWhy(t *testing.T) {
	for want, f := range map[string]flavour.Flavour{
		"cuts prompts short at 2051 tokens": {Say: flavour.Probed, Usage: func(b flavour.Bill) map[string]any {
			return map[string]any{"prompt_tokens": min(b.Input, 2051), "completion_tokens": b.Output}
		}},
		"cuts prompts short at 100 tokens and does not say so. Give it a larger context": {Say: flavour.Probed,
			Usage: func(b flavour.Bill) map[string]any {
				return map[string]any{"prompt_tokens": min(b.Input, 100), "completion_tokens": b.Output}
			}},
		"(content filter). Use a model of another provider. It said: I wil": {
			Say:     func(flavour.Ask) flavour.Turn { return flavour.Turn{Text: "I wil"} },
			Message: func(map[string]any) string { return "content_filter" }},
		"calling the tool that it was asked to call. Use a model that can": {
			Say: func(flavour.Ask) flavour.Turn { return flavour.Turn{Text: "The values are 1 and 2."} }},
	} {
		s := flavour.Start(f)
		t.Cleanup(s.Close)
		if got := dialTo(t, s).Probe(t.Context(), nil); got.Usable || !strings.Contains(got.Advice, want) {
			t.Errorf("usable %v, %q, want %q", got.Usable, got.Advice, want)
		}
	}
}

// A model is probed with the configured maximum length of answers, and missing features are listed in any case.
func TestProbeAsksForWhatIsConfigured(t *testing.T) {
	s := flavour.Start(flavour.Flavour{Say: flavour.Probed, Usage: func(b flavour.Bill) map[string]any {
		return map[string]any{"prompt_tokens": b.Input / 4, "completion_tokens": b.Output}
	}, Refuse: func(_ *flavour.Server, a flavour.Ask) (int, string) {
		if a.Body["max_tokens"].(float64) > 4096 {
			return http.StatusBadRequest, flavour.Words("the valid range of max_tokens is [1, 4096]")
		}
		return 0, ""
	}})
	t.Cleanup(s.Close)
	const counted, shorter = "its endpoint may cut prompts short", "answers have at most 4096 tokens"
	if got := dialTo(t, s).Probe(t.Context(), nil); !got.Usable || !strings.Contains(got.Told(), counted) ||
		!strings.Contains(got.Told(), shorter) {
		t.Errorf("usable %v, %q", got.Usable, got.Told())
	}
}

// An answer to the schema that is empty, cut off or withheld teaches nothing, nor does a failed call.
func TestProbeLearnsNothingFromNoAnswer(t *testing.T) {
	for _, finish := range []string{"stop", "length", "content_filter", "fails"} {
		schema := false
		s := flavour.Start(flavour.Flavour{
			Say: func(a flavour.Ask) flavour.Turn {
				if schema = a.Body["tools"] == nil; schema {
					return flavour.Turn{}
				}
				return flavour.Probed(a)
			},
			Message: func(map[string]any) string {
				if schema {
					return finish
				}
				return ""
			},
			Refuse: func(_ *flavour.Server, a flavour.Ask) (int, string) {
				if finish == "fails" && a.Body["tools"] == nil {
					return http.StatusInternalServerError, flavour.Words("internal error")
				}
				return 0, ""
			}})
		t.Cleanup(s.Close)
		c := dialTo(t, s)
		if got := c.Probe(t.Context(), nil); got.Strict || c.Learned().Schema != 0 ||
			strings.Contains(got.Advice, "does not hold answers") {
			t.Errorf("%s: learned %+v, %q", finish, c.Learned(), got.Advice)
		}
	}
}

// The limit is raised automatically, once, for a model that thinks longer. If that is not enough, or a limit was
// configured, the advice names the setting.
func TestLongThoughts(t *testing.T) {
	for _, c := range []struct {
		thinks, configured int
		works              bool
		want               string
	}{
		{12_000, 0, true, ""},
		{12_000, 9_000, false, "SIA allows it 9000 tokens: set max_output of the model higher in the file of --config"},
		{90_000, 0, false, "SIA allows it 32768 tokens: set max_output"},
	} {
		cut := 0 // tokens at which the current answer is cut off; 0: never
		s := flavour.Start(flavour.Flavour{
			Say: func(a flavour.Ask) flavour.Turn {
				if cut = int(a.Body["max_tokens"].(float64)); cut < c.thinks {
					return flavour.Turn{}
				}
				cut = 0
				return flavour.Probed(a)
			},
			Message: func(map[string]any) string {
				if cut > 0 {
					return "length"
				}
				return ""
			},
			Usage: func(b flavour.Bill) map[string]any {
				return map[string]any{"prompt_tokens": b.Input, "completion_tokens": b.Output + cut - cut/50}
			}})
		t.Cleanup(s.Close)
		got := dialTo(t, s, func(f *llm.Config) { f.MaxOutput = c.configured }).Probe(t.Context(), nil)
		if got.Usable != c.works || !strings.Contains(got.Advice, c.want) {
			t.Errorf("thinks %d, configured %d: usable %v, %q", c.thinks, c.configured, got.Usable, got.Advice)
		}
	}
}

// Endpoints report in several ways that an answer was cut off while the model was thinking: some count slightly less
// than the limit, only the reasoning or nothing, some report "stop". Each raises the limit; none counts as a full
// window. An answer that is cut off at the endpoint's own limit, or that is empty, does not raise it.
func TestCutInThought(t *testing.T) {
	for _, c := range []struct {
		what, finish  string
		output, hides int // tokens counted as output, and as reasoning; -1: not counted
		thinks        int // visible tokens
		full, fails   bool
	}{
		{"the whole limit", "length", 8192, 8192, 0, true, false},
		{"https://github.com/BerriAI/litellm-docs/pull/559", "length", 8020, 0, 0, true, false},
		{"https://github.com/router-for-me/CLIProxyAPI/issues/5733", "length", 0, 8192, 0, true, false},
		{"reasoning that is not counted", "length", 0, 0, 9000, true, false},
		{"https://github.com/kekzl/imp/issues/1442", "stop", 8192, 0, 0, true, false},
		{"https://github.com/vllm-project/vllm/issues/24184", "stop", -1, 0, 9000, true, false},
		{"an endpoint's own limit", "length", 4096, 4000, 0, false, false},
		{"an empty answer", "stop", 7, 0, 0, false, false},
		{"a full window", "length", 0, 0, 0, false, true},
	} {
		s := flavour.Start(flavour.Flavour{
			Say: func(flavour.Ask) flavour.Turn { return flavour.Turn{} },
			Message: func(m map[string]any) string {
				m["reasoning_content"] = strings.Repeat("hmm ", c.thinks)
				return c.finish
			},
			Usage: func(b flavour.Bill) map[string]any {
				if c.output < 0 {
					return nil
				}
				return map[string]any{"prompt_tokens": b.Input, "completion_tokens": c.output,
					"completion_tokens_details": map[string]any{"reasoning_tokens": c.hides}}
			}})
		t.Cleanup(s.Close)
		client := dialTo(t, s)
		resp, err := client.Complete(t.Context(), ask("x"))
		if full := client.MaxOutput() > llm.DefaultMaxOutput; full != c.full || (err != nil) != c.fails ||
			c.full != (resp.CutWhileThinking() && resp.Usage.Output > 8000) {
			t.Errorf("%s: more room %v; %+v, %v", c.what, full, resp, err)
		}
	}
}

// An endpoint may accept a schema without enforcing it. Schemas are then part of the prompt. For each feature that was
// not seen, the advice names a fix.
func TestProbeSeesWhoHoldsToSchemas(t *testing.T) {
	for _, answer := range []string{`{"ok": "yes"}`, "Sure!\n```json\n{\"well\": true}\n```", `{"well": "yes"}`, "Well."} {
		s := flavour.Start(flavour.Flavour{Uncached: true, Say: func(a flavour.Ask) flavour.Turn {
			if a.Body["tools"] == nil {
				return flavour.Turn{Text: answer}
			}
			turn := flavour.Probed(a)
			turn.Calls = turn.Calls[:min(1, len(turn.Calls))]
			return turn
		}})
		t.Cleanup(s.Close)
		c := dialTo(t, s)
		got := c.Probe(t.Context(), nil)
		if !got.Usable || got.Strict || got.Parallel || got.Cached {
			t.Errorf("%s: %+v", answer, got)
		}
		for _, want := range []string{"more turns", "the schema in the prompt", "set its reasoning", "caching on"} {
			if !strings.Contains(got.Advice, want) {
				t.Errorf("%s: %q is not in %q", answer, want, got.Advice)
			}
		}
		_, _ = c.Complete(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "Answer."}},
			Schema: &llm.Schema{Name: "x", JSON: []byte(`{"type":"object"}`)}})
		asks := s.Asks()
		if raw := asks[len(asks)-1].Raw; strings.Contains(raw, "json_schema") || !strings.Contains(raw, "Schema:") {
			t.Errorf("%s: asked with %s", answer, raw)
		}
	}
}

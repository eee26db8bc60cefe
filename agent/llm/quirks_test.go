package llm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/llm/flavour"
)

var readTool = llm.ToolSpec{Name: "read", Description: "Reads a file.", Parameters: json.RawMessage(
	`{"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"integer"}},"required":["path"]}`)}

// quirk is one thing that real servers do, in one conversation.
type quirk struct {
	name, source string
	f            flavour.Flavour
	change       func(*llm.Config)
	earlier      []llm.Message // of another model, which this one goes on from
	calls        []string      // arguments of the calls; nil: the usual two
	kind         llm.ErrorKind // with which the conversation ends; "": it comes to its end
	check        func(t *testing.T, c *llm.Client, s *flavour.Server, all []llm.Response)
}

// fromAnother is an answer of another model, with an id that Mistral refuses and reasoning
// that is not this model's.
var fromAnother = []llm.Message{
	{Role: llm.RoleAssistant, Content: "", ToolCalls: []llm.ToolCall{{ID: "toolu_01_very-long", Name: "read",
		Arguments: `{"path":"x.go"}`}}, Opaque: &llm.Opaque{Maker: "chat http://elsewhere/v1 other",
		Parts: []llm.OpaquePart{{Name: "reasoning_content", Raw: `"of another"`}}}},
	{Role: llm.RoleTool, ToolCallID: "toolu_01_very-long", Content: "package x"},
}

// chunks answers with the given events, one after another, on the first turn, and as usual
// after that.
func chunks(events ...string) func(*flavour.Server, http.ResponseWriter, flavour.Ask, flavour.Turn) bool {
	return func(_ *flavour.Server, w http.ResponseWriter, a flavour.Ask, _ flavour.Turn) bool {
		if a.Turn > 0 {
			return false
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			fmt.Fprintf(w, "%s\n\n", e)
		}
		return true
	}
}

// whole answers in one piece on the first turn.
func whole(body string) func(*flavour.Server, http.ResponseWriter, flavour.Ask, flavour.Turn) bool {
	return func(_ *flavour.Server, w http.ResponseWriter, a flavour.Ask, _ flavour.Turn) bool {
		if a.Turn > 0 {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, body)
		return true
	}
}

// refuses answers 400 to what holds a word.
func refuses(word, message string) func(*flavour.Server, flavour.Ask) (int, string) {
	return func(_ *flavour.Server, a flavour.Ask) (int, string) {
		if strings.Contains(a.Raw, word) {
			return http.StatusBadRequest, flavour.Say(message)
		}
		return 0, ""
	}
}

func reasoning(effort string) func(*llm.Config) {
	return func(c *llm.Config) { c.Reasoning = effort }
}

// weaker reports that something is said to be weaker.
func weaker(word string) func(*testing.T, *llm.Client, *flavour.Server, []llm.Response) {
	return func(t *testing.T, c *llm.Client, _ *flavour.Server, _ []llm.Response) {
		if got := strings.Join(c.Learned().Weaker, "; "); !strings.Contains(got, word) {
			t.Errorf("what is weaker is not said: %q", got)
		}
	}
}

func protocol(want llm.Protocol) func(*testing.T, *llm.Client, *flavour.Server, []llm.Response) {
	return func(t *testing.T, c *llm.Client, _ *flavour.Server, _ []llm.Response) {
		if got := c.Protocol(); got != want {
			t.Errorf("dialect %s, want %s", got, want)
		}
	}
}

func used(want llm.Usage) func(*testing.T, *llm.Client, *flavour.Server, []llm.Response) {
	return func(t *testing.T, _ *llm.Client, _ *flavour.Server, all []llm.Response) {
		if d := cmp.Diff(want, all[0].Usage); d != "" {
			t.Errorf("usage (-want +got):\n%s", d)
		}
	}
}

// kept reports that the opaque parts of the first answer came, whole.
func kept(raw string) func(*testing.T, *llm.Client, *flavour.Server, []llm.Response) {
	return func(t *testing.T, _ *llm.Client, s *flavour.Server, all []llm.Response) {
		o := all[0].Message.Opaque
		if o == nil || len(o.Parts) == 0 || !strings.Contains(o.Parts[0].Raw, raw) {
			t.Fatalf("opaque: %+v", o)
		}
		var back struct{ Messages []map[string]any }
		asks := s.Asks()
		if err := json.Unmarshal([]byte(asks[1].Raw), &back); err != nil || !strings.Contains(asks[1].Raw, raw) {
			t.Errorf("it does not go back: %v, %s", err, asks[1].Raw)
		}
	}
}

const begun = `"tool_calls":[{"index":0,"id":"call_0_0","type":"function","function":{"name":"read","arguments":`

func chatOnly(f flavour.Flavour) flavour.Flavour {
	f.Paths = []string{flavour.Chat}
	return f
}

var (
	oneCall  = []string{`{"path":"a.go"}`, `{"path":"go.mod"}`}
	openAI   = flavour.OpenAI
	claude   = flavour.Anthropic
	fixed    = func(p llm.Protocol) func(*llm.Config) { return func(c *llm.Config) { c.Protocol = p } }
	anywhere = chatOnly(flavour.Flavour{})
)

func with(f flavour.Flavour, refuse func(*flavour.Server, flavour.Ask) (int, string)) flavour.Flavour {
	f.Refuse = refuse
	return f
}

func replies(r func(*flavour.Server, http.ResponseWriter, flavour.Ask, flavour.Turn) bool) flavour.Flavour {
	return flavour.Flavour{Paths: []string{flavour.Chat}, Reply: r}
}

var quirks = []quirk{
	{name: "tools on the wrong address", source: openAI.Source, f: openAI, check: protocol(llm.ProtocolResponses)},
	{name: "with an effort", source: openAI.Source, f: openAI, change: reasoning("high"),
		check: protocol(llm.ProtocolResponses)},
	{name: "a name that the client's library refuses", source: "https://github.com/Wei-Shaw/sub2api/issues/6740",
		f: openAI, change: func(c *llm.Config) { c.Model, c.Reasoning = "gpt-6-astra", "high" },
		check: func(t *testing.T, c *llm.Client, s *flavour.Server, _ []llm.Response) {
			if last := s.Asks()[len(s.Asks())-1]; !strings.Contains(last.Raw, `"effort":"high"`) {
				t.Errorf("the effort was weakened: %s", last.Raw)
			}
		}},
	{name: "only in Responses, said with 404", source: "https://github.com/openai/codex/issues/2131",
		f: with(openAI, func(s *flavour.Server, a flavour.Ask) (int, string) {
			if a.Path == flavour.Chat {
				return 404, flavour.Say("This model is only supported in v1/responses and not in v1/chat/completions.")
			}
			return flavour.OpenAI.Refuse(s, a)
		}), check: protocol(llm.ProtocolResponses)},
	{name: "no such address but Responses", source: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
		f: flavour.Flavour{Paths: []string{flavour.Responses}}, check: protocol(llm.ProtocolResponses)},
	{name: "no such address but Messages", source: "https://docs.anthropic.com/en/api/messages",
		f: flavour.Flavour{Paths: []string{flavour.Messages}}, check: protocol(llm.ProtocolMessages)},
	{name: "Responses points to chat completions", source: "https://github.com/openai/openai-openapi/issues/541",
		f: flavour.Flavour{Paths: []string{flavour.Responses}}, change: fixed(llm.ProtocolChat), kind: llm.KindBadRequest},
	{name: "a dialect that is configured stays", source: openAI.Source, f: openAI, change: fixed(llm.ProtocolChat),
		kind: llm.KindDialect},
	{name: "no encrypted reasoning", source: "https://github.com/OpenHands/software-agent-sdk/pull/1208",
		f: flavour.Flavour{Paths: []string{flavour.Responses},
			Refuse: refuses("encrypted_content", "Encrypted content is not supported with this model.")},
		change: fixed(llm.ProtocolResponses), check: weaker("reasoning is not given back")},
	{name: "no cache key", source: "https://developers.openai.com/api/docs/guides/prompt-caching",
		f: flavour.Flavour{Paths: []string{flavour.Responses},
			Refuse: refuses("prompt_cache_key", "Unknown parameter: 'prompt_cache_key'.")},
		change: fixed(llm.ProtocolResponses)},
	{name: "reasoning that can't be decrypted", source: "https://github.com/openai/openai-agents-js/issues/546",
		f: flavour.Flavour{Paths: []string{flavour.Responses}, Opaque: openAI.Opaque,
			Refuse: refuses("gAAAAA", "The encrypted content gAAA... could not be verified.")},
		change: fixed(llm.ProtocolResponses)},

	{name: "thinking goes back", source: flavour.DeepSeek.Source, f: flavour.DeepSeek},
	{name: "thinking after another model", source: "https://github.com/anomalyco/opencode/issues/24722",
		f: flavour.DeepSeek, earlier: fromAnother},
	{name: "thinking that must not go back", source: "https://api-docs.deepseek.com/guides/reasoning_model",
		f: flavour.Flavour{Paths: []string{flavour.Chat}, Opaque: flavour.DeepSeek.Opaque,
			Refuse: refuses("reasoning_content", "The reasoning_content field is not allowed in the input.")},
		check: weaker("reasoning is not given back")},
	{name: "signatures go back", source: flavour.Gemini.Source, f: flavour.Gemini},
	{name: "signatures after another model", source: "https://github.com/agentjido/req_llm/pull/427", f: flavour.Gemini,
		earlier: fromAnother},
	{name: "ids after another model", source: flavour.Mistral.Source, f: flavour.Mistral, earlier: fromAnother},
	{name: "its own ids are refused", source: flavour.MistralLocal.Source, f: flavour.MistralLocal},
	{name: "marks where the gateway takes them", source: flavour.OpenRouter.Source, f: flavour.OpenRouter,
		check: func(t *testing.T, _ *llm.Client, s *flavour.Server, all []llm.Response) {
			if n := flavour.Marks(s.Asks()[1].Body); n == 0 || n > 4 || all[1].Usage.CacheWrite == 0 {
				t.Errorf("%d marks, usage %+v", n, all[1].Usage)
			}
		}},
	{name: "marks are refused", source: "https://github.com/BerriAI/litellm/issues/7790",
		f: flavour.Flavour{Paths: []string{flavour.Chat}, Reply: flavour.OpenRouter.Reply, Refuse: refuses("cache_control",
			"cache_control: Extra inputs are not permitted")}, check: weaker("cache")},
	{name: "max_completion_tokens is not known", source: "https://docs.mistral.ai/api/", f: with(anywhere,
		refuses("max_completion_tokens", "Unrecognized request argument supplied: max_completion_tokens"))},
	{name: "an answer must be shorter", source: "https://github.com/BerriAI/litellm/issues/4433",
		f: with(anywhere, refuses(":8192",
			"max_tokens is too large: 8192. This model supports at most 4096 completion tokens.")),
		check: weaker("4096")},
	{name: "stream_options is not known", source: "https://github.com/vllm-project/vllm/issues/5135", f: with(anywhere,
		refuses("stream_options", "stream_options: Extra inputs are not permitted"))},
	{name: "no stream", source: "https://docs.litellm.ai/docs/completion/stream", f: with(anywhere,
		refuses(`"stream":true`, "This model does not support streaming."))},
	{name: "an effort is refused", source: "https://github.com/livekit/agents/issues/5084", change: reasoning("xhigh"),
		f: with(anywhere, refuses("xhigh",
			"Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model.")),
		check: weaker("xhigh")},
	{name: "a field is refused that it sends itself", source: "https://console.groq.com/docs/reasoning",
		f: flavour.Flavour{Paths: []string{flavour.Chat}, Opaque: func(int) any {
			return map[string]any{"message": map[string]any{"reasoning": "Hm."}}
		}, Refuse: refuses(`"reasoning":"Hm."`, "'messages.2' : property 'reasoning' is unsupported")},
		check: weaker("reasoning")},

	{name: "arguments are an object", source: "https://github.com/ggml-org/llama.cpp/issues/20198", calls: oneCall,
		f: replies(chunks(`data: {"choices":[{"delta":{`+begun+`{"path":"a.go"}}}]},"finish_reason":"tool_calls"}]}`,
			"data: [DONE]"))},
	{name: "arguments are in a string twice", source: "https://github.com/ggml-org/llama.cpp/issues/20202", calls: oneCall,
		f: replies(chunks(`data: {"choices":[{"delta":{`+begun+
			`"\"{\\\"path\\\":\\\"a.go\\\"}\""}}]},"finish_reason":"stop"}]}`,
			"data: [DONE]"))},
	{name: "content is a list", source: "https://github.com/HKUDS/nanobot/issues/2494", calls: []string{},
		f: replies(whole(`{"choices":[{"message":{"content":[{"type":"text","text":"All "},` +
			`{"type":"text","text":"well."}]},"finish_reason":"stop"}]}`)), check: said("All well.")},
	{name: "thinking is a block of the content", source: "https://docs.mistral.ai/capabilities/reasoning/", calls: oneCall,
		f: replies(chunks(
			`data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]}]}}]}`,
			`data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":", so"}]}]}}]}`,
			`data: {"choices":[{"delta":{`+begun+`"{\"path\":\"a.go\"}"}}]},"finish_reason":"tool_calls"}]}`, "data: [DONE]")),
		check: kept("Hm, so")},
	{name: "a call is text", source: "https://github.com/ggml-org/llama.cpp/issues/20198", calls: oneCall,
		f: replies(whole(`{"choices":[{"message":{"content":"I look.\n<tool_call>\n{\"name\": \"read\", \"arguments\": ` +
			`{\"path\":\"a.go\"}}\n</tool_call>"},"finish_reason":"stop"}]}`)), check: said("I look.")},
	{name: "a call is marked up", source: "https://github.com/QwenLM/Qwen3-Coder",
		calls: []string{`{"lines":3,"path":"7"}`, `{"path":"go.mod"}`},
		f: replies(whole(`{"choices":[{"message":{"content":"<tool_call>\n<function=read>\n` +
			`<parameter=path>\n7\n</parameter>\n<parameter=lines>\n3\n</parameter>\n</function>\n` +
			`</tool_call>"},"finish_reason":"stop"}]}`))},
	{name: "what looks like a call is prose", source: "https://github.com/ggml-org/llama.cpp/issues/20198",
		calls: []string{},
		f: replies(whole(`{"choices":[{"message":{"content":"Write <tool_call>{\"name\": \"rm\", \"arguments\": {}}` +
			`</tool_call>."},"finish_reason":"stop"}]}`)),
		check: said(`Write <tool_call>{"name": "rm", "arguments": {}}</tool_call>.`)},
	{name: "an error in a 200", source: "https://openrouter.ai/docs/api-reference/errors", kind: llm.KindQuota,
		f: replies(whole(`{"error":{"message":"Insufficient credits","code":402}}`))},
	{name: "a throttled provider in a 200", source: "https://openrouter.ai/docs/api-reference/errors",
		kind: llm.KindRateLimit,
		f:    replies(whole(`{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"slow down"}}}`))},
	{name: "no ids", source: "https://github.com/ollama/ollama/issues/6708", calls: oneCall,
		f: replies(chunks(`data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{\"path\":\"a.go\"}","name":`+
			`"read"}}]},"finish_reason":"tool_calls"}]}`, "data: [DONE]"))},
	{name: "ids begin anew in each answer", source: "https://github.com/editor-code-assistant/eca/issues/233",
		f: replies(func(_ *flavour.Server, w http.ResponseWriter, a flavour.Ask, _ flavour.Turn) bool {
			if a.Turn > 1 {
				return false
			}
			flavour.Events(w, false, map[string]any{"choices": []any{map[string]any{"finish_reason": "tool_calls",
				"delta": map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": "0", "function": map[string]any{
					"name": "read", "arguments": fmt.Sprintf(`{"path":"%d"}`, a.Turn)}}}}}}})
			return true
		}), calls: []string{`{"path":"0"}`, `{"path":"1"}`},
		check: func(t *testing.T, _ *llm.Client, _ *flavour.Server, all []llm.Response) {
			if all[0].Message.ToolCalls[0].ID == all[1].Message.ToolCalls[0].ID {
				t.Error("two calls have one id")
			}
		}},
	{name: "no [DONE], no usage", source: "https://github.com/vllm-project/vllm/issues/5135", calls: oneCall,
		f: replies(chunks(`data: {"choices":[{"delta":{` + begun + `"{\"path\":\"a.go\"}"}}]},"finish_reason":"eos"}]}`))},
	{name: "comments keep the connection alive", source: "https://openrouter.ai/docs/api-reference/streaming",
		calls: oneCall,
		f: replies(chunks(": OPENROUTER PROCESSING", ": OPENROUTER PROCESSING", `data: {"choices":[{"delta":{`+begun+
			`"{\"path\":\"a.go\"}"}}]},"finish_reason":"tool_calls"}]}`, "data: [DONE]"))},
	{name: "details of reasoning come in pieces", source: "https://openrouter.ai/docs/use-cases/reasoning-tokens",
		calls: oneCall, f: replies(chunks(
			`data: {"provider":"Anthropic","choices":[{"delta":{"reasoning_details":[`+
				`{"type":"reasoning.text","index":0,"text":"So "}]}}]}`,
			`data: {"choices":[{"delta":{"reasoning_details":[`+
				`{"type":"reasoning.text","index":0,"text":"it is","signature":null}]}}]}`,
			`data: {"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","index":0,"signature":"c2ln"}]}}]}`,
			`data: {"choices":[{"delta":{`+begun+`"{\"path\":\"a.go\"}"}}]},"finish_reason":"tool_calls"}]}`, "data: [DONE]")),
		check: kept(`"text":"So it is"`)},
	{name: "a call that was cut is told as cut", source: "https://github.com/ollama/ollama/issues/8095",
		calls: []string{`{"path":"a`, `{"path":"go.mod"}`}, f: replies(chunks(`data: {"choices":[{"delta":{`+begun+
			`"{\"path\":\"a"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":8192,`+
			`"total_tokens":8201}}`, "data: [DONE]")),
		check: func(t *testing.T, _ *llm.Client, _ *flavour.Server, all []llm.Response) {
			if all[0].Finish != llm.FinishLength {
				t.Errorf("finish %q", all[0].Finish)
			}
		}},
	{name: "no room for an answer",
		source: "https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts",
		kind:   llm.KindContextLength, f: replies(chunks(`data: {"choices":[{"delta":{},"finish_reason":"length"}],"usage":`+
			`{"prompt_tokens":128000,"completion_tokens":0,"total_tokens":128000}}`, "data: [DONE]"))},
	{name: "less room than was asked for", source: "https://docs.anthropic.com/en/docs/build-with-claude/context-windows",
		kind: llm.KindContextLength,
		f: replies(chunks(`data: {"choices":[{"delta":{"content":"Th"},"finish_reason":"length"}],`+
			`"usage":{"prompt_tokens":127990,"completion_tokens":10,"total_tokens":128000}}`, "data: [DONE]"))},
	{name: "reasoning is counted beside the answer", source: "https://docs.x.ai/docs/guides/reasoning", calls: oneCall,
		f: replies(chunks(`data: {"choices":[{"delta":{`+begun+`"{\"path\":\"a.go\"}"}}]},"finish_reason":"tool_calls"}],`+
			`"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":150}}`, "data: [DONE]")),
		check: used(llm.Usage{Input: 100, Output: 50})},
	{name: "what is cached has another name", source: "https://api-docs.deepseek.com/guides/kv_cache", calls: oneCall,
		f: replies(chunks(`data: {"choices":[{"delta":{`+begun+`"{\"path\":\"a.go\"}"}}]},"finish_reason":"tool_calls"}],`+
			`"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110,"prompt_cache_hit_tokens":64}}`,
			"data: [DONE]")), check: used(llm.Usage{Input: 100, CachedInput: 64, Output: 10})},
	{name: "an answer is withheld", source: "https://docs.z.ai/api-reference/llm/chat-completion", calls: []string{},
		f: replies(whole(`{"choices":[{"message":{"content":""},"finish_reason":"sensitive"}]}`)),
		check: func(t *testing.T, _ *llm.Client, _ *flavour.Server, all []llm.Response) {
			if all[0].Finish != llm.FinishContentFilter {
				t.Errorf("finish %q", all[0].Finish)
			}
		}},
	{name: "moderation with 403", source: "https://openrouter.ai/docs/api-reference/errors", kind: llm.KindModeration,
		f: with(anywhere, func(*flavour.Server, flavour.Ask) (int, string) {
			return 403, flavour.Say("Your chosen model requires moderation and your input was flagged")
		})},
	{name: "an error event midway", source: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
		kind: llm.KindContextLength, f: replies(chunks(`data: {"choices":[{"delta":{"content":"Th"}}]}`,
			`data: {"error":{"message":"This model's maximum context length is 8192 tokens.","code":400}}`))},

	{name: "thinking blocks and signatures go back", source: claude.Source, f: claude, change: func(c *llm.Config) {
		c.Protocol, c.Reasoning = llm.ProtocolMessages, "high"
	}},
	{name: "four marks and no more, paid for once", source: "https://github.com/Wei-Shaw/sub2api/issues/176", f: claude,
		change: fixed(llm.ProtocolMessages),
		check: func(t *testing.T, _ *llm.Client, s *flavour.Server, all []llm.Response) {
			if n := flavour.Marks(s.Asks()[2].Body); n != 4 {
				t.Errorf("%d marks", n)
			}
			if all[1].Usage.CachedInput == 0 || all[0].Usage.CacheWrite == 0 {
				t.Errorf("usage %+v, %+v", all[0].Usage, all[1].Usage)
			}
		}},
	{name: "adaptive thinking is not known",
		source: "https://docs.anthropic.com/en/docs/build-with-claude/adaptive-thinking",
		f: with(claude, func(s *flavour.Server, a flavour.Ask) (int, string) {
			if strings.Contains(a.Raw, "adaptive") {
				return 400, flavour.Say("adaptive thinking is not supported on this model")
			}
			return flavour.Anthropic.Refuse(s, a)
		}), change: func(c *llm.Config) { c.Protocol, c.Reasoning = llm.ProtocolMessages, "high" },
		check: func(t *testing.T, _ *llm.Client, s *flavour.Server, _ []llm.Response) {
			if last := s.Asks()[len(s.Asks())-1]; !strings.Contains(last.Raw, "budget_tokens") {
				t.Errorf("it no longer thinks: %s", last.Raw)
			}
		}},
	{name: "it goes on from another model's calls", source: "https://github.com/anomalyco/opencode/issues/3077", f: claude,
		change:  func(c *llm.Config) { c.Protocol, c.Reasoning = llm.ProtocolMessages, "high" },
		earlier: fromAnother},
	{name: "overloaded with 529", source: "https://docs.anthropic.com/en/api/errors", kind: llm.KindOverloaded,
		change: fixed(llm.ProtocolMessages), f: with(claude, func(*flavour.Server, flavour.Ask) (int, string) {
			return 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
		})},
	{name: "an unknown model", source: "https://docs.anthropic.com/en/api/errors", kind: llm.KindUnknownModel,
		change: fixed(llm.ProtocolMessages), f: with(claude, func(*flavour.Server, flavour.Ask) (int, string) {
			return 404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}`
		})},
}

func said(text string) func(*testing.T, *llm.Client, *flavour.Server, []llm.Response) {
	return func(t *testing.T, _ *llm.Client, _ *flavour.Server, all []llm.Response) {
		if got := all[0].Message.Content; got != text {
			t.Errorf("it said %q, want %q", got, text)
		}
	}
}

// Each quirk is a conversation with a server that has it: with a tool's results, to its end.
func TestQuirks(t *testing.T) {
	if len(quirks) < 40 {
		t.Errorf("%d quirks", len(quirks))
	}
	for _, q := range quirks {
		t.Run(q.name, func(t *testing.T) {
			if !strings.HasPrefix(q.source, "https://") {
				t.Error("it has no source")
			}
			s := flavour.Start(q.f)
			t.Cleanup(s.Close)
			c, _ := dial(t, s.URL, func(c *llm.Config) {
				if c.Retries = -1; q.change != nil {
					q.change(c)
				}
			})
			all, err := converse(t, c, q.earlier)
			if q.kind != "" {
				var e *llm.Error
				if !errors.As(err, &e) || e.Kind != q.kind || e.Advice() == "" {
					t.Fatalf("error %v, want %s", err, q.kind)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var args []string
			for _, r := range all {
				for _, call := range r.Message.ToolCalls {
					args = append(args, call.Arguments)
				}
			}
			want := q.calls
			if want == nil {
				want = []string{`{"path":"main.go"}`, `{"path":"go.mod"}`}[len(q.earlier)/2:] // the first turn is another's
			}
			if !slices.Equal(args, want) {
				t.Errorf("calls %q, want %q", args, want)
			}
			if q.check != nil {
				q.check(t, c, s, all)
			}
			// What was learned holds: the next conversation is not refused for it again.
			before := len(s.Asks())
			again, err := converse(t, c, nil)
			if n := len(s.Asks()) - before; err != nil || q.earlier == nil && n != len(again) {
				if !strings.Contains(q.name, "decrypted") { // which holds for one conversation alone
					t.Errorf("the next conversation took %d requests for %d answers: %v", n, len(again), err)
				}
			}
		})
	}
}

// converse talks to a model until it calls no tool.
func converse(t *testing.T, c *llm.Client, earlier []llm.Message) (all []llm.Response, err error) {
	t.Helper()
	req := llm.Request{Tools: []llm.ToolSpec{readTool}, Messages: append([]llm.Message{
		{Role: llm.RoleSystem, Content: strings.Repeat("You are an engineer. ", 80)},
		{Role: llm.RoleUser, Content: "Read the files."}}, earlier...)}
	for range 6 {
		resp, err := c.Complete(t.Context(), req)
		if err != nil {
			return all, err
		}
		all = append(all, resp)
		if len(resp.Message.ToolCalls) == 0 {
			return all, nil
		}
		req.Messages = append(req.Messages, resp.Message)
		for _, call := range resp.Message.ToolCalls {
			req.Messages = append(req.Messages, llm.Message{Role: llm.RoleTool, ToolCallID: call.ID, Content: "package main"})
		}
	}
	return all, errors.New("it never ends")
}

// What was learned is remembered: a client that is made later begins with it.
func TestMemory(t *testing.T) {
	s := flavour.Start(flavour.OpenAI)
	t.Cleanup(s.Close)
	var saved map[string]llm.Learned
	c, _ := dial(t, s.URL, func(c *llm.Config) {
		c.Memory = llm.NewMemory(nil, func(all map[string]llm.Learned) { saved = all })
	})
	if _, err := converse(t, c, nil); err != nil || len(saved) != 1 {
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
	again, _ := dial(t, s.URL, func(c *llm.Config) { c.Memory = llm.NewMemory(back, nil) })
	all, err := converse(t, again, nil)
	if n := len(s.Asks()) - before; err != nil || n != len(all) {
		t.Errorf("%d requests for %d answers: %v", n, len(all), err)
	}
}

// Probe says of each flavour what works, and why where something does not.
func TestProbe(t *testing.T) {
	for _, f := range flavour.Stateful() {
		t.Run(f.Name, func(t *testing.T) {
			f.Turns = []flavour.Turn{{Calls: []flavour.Call{{Name: "look_up", Arguments: `{"key":"alpha"}`},
				{Name: "look_up", Arguments: `{"key":"beta"}`}}}, {Text: `{"well": true}`}}
			s := flavour.Start(f)
			t.Cleanup(s.Close)
			c, _ := dial(t, s.URL)
			got := c.Probe(t.Context())
			if !got.Usable || !got.Tools || !got.Parallel || !got.Cached || got.ReasoningKept != (f.Opaque != nil) {
				t.Errorf("%+v", got)
			}
			sum, _ := s.Bill()
			if got.Usage.Input+got.Usage.Output < sum.Input {
				t.Errorf("usage %+v, bill %+v", got.Usage, sum)
			}
		})
	}
	for name, reply := range map[string]func(http.ResponseWriter, *http.Request){
		"garbage": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for range 20_000 {
				fmt.Fprintln(w, "lorem ipsum dolor")
			}
		},
		"silent": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client has gone
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := newServer(t, reply)
			c, _ := dial(t, srv, func(c *llm.Config) { c.Timeout, c.Retries = 300_000_000, -1 })
			if got := c.Probe(t.Context()); got.Usable || got.Advice == "" {
				t.Errorf("%+v", got)
			}
		})
	}
}

package flavour

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
)

// reasoned are the reasoning items of an answer in Responses.
func reasoned(n int) any {
	return []any{object{"type": "reasoning", "id": fmt.Sprintf("rs_%d", n), "summary": []any{},
		"encrypted_content": fmt.Sprintf("gAAAAA-%d-<&>/+=", n)}}
}

// wantsItems refuses what OpenAI's reasoning models refuse: tools in chat completions, one of their calls without its
// unchanged reasoning, reasoning that nothing follows, and stored items.
func wantsItems(_ *Server, a Ask) (int, string) {
	if a.Path == Chat {
		if a.Body["tools"] != nil {
			return http.StatusBadRequest, Words("Function tools with reasoning_effort are not supported for gpt-5.6-terra in " +
				"/v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.")
		}
		return 0, ""
	}
	if store, there := a.Body["store"].(bool); !there || store {
		return http.StatusBadRequest, Words("Previous items can't be stored: this organization keeps no data.")
	}
	last, open := "", ""
	for _, m := range messagesOf(a) {
		if open != "" && m["type"] == nil && m["role"] == "user" {
			return http.StatusBadRequest, Words("Item '" + open + "' of type 'reasoning' was provided without its required " +
				"following item.")
		}
		open = ""
		switch m["type"] {
		case "reasoning":
			last, _ = m["encrypted_content"].(string)
			open = fmt.Sprint(m["id"])
		case "function_call":
			n, k := 0, 0
			if _, err := fmt.Sscanf(fmt.Sprint(m["call_id"]), "call_%d_%d", &n, &k); err != nil {
				continue // of another model
			}
			if want := reasoned(n).([]any)[0].(object)["encrypted_content"]; last != want {
				return http.StatusBadRequest, Words(fmt.Sprintf("Item 'fc_%d' of type 'function_call' was provided without its "+
					"required 'reasoning' item: 'rs_%d'.", n, n))
			}
		}
	}
	return 0, ""
}

// wantsPhases refuses the model's text without its phase, where OpenAI's endpoint only gives worse answers.
func wantsPhases(s *Server, a Ask) (int, string) {
	for _, m := range messagesOf(a) {
		if m["role"] == "assistant" && m["phase"] != "commentary" {
			return http.StatusBadRequest, Words("Item of type 'message' was provided without what it came with")
		}
	}
	return wantsItems(s, a)
}

var nameOfTool = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// wantsNames refuses calls with invalid tool names, in each dialect.
func wantsNames(_ *Server, a Ask) (int, string) {
	for i, m := range messagesOf(a) {
		calls, _ := m["tool_calls"].([]any)
		blocks, _ := m["content"].([]any)
		if m["type"] == "function_call" {
			blocks = []any{m}
		}
		for _, one := range append(calls, blocks...) {
			call, _ := one.(object)
			if f, is := call["function"].(object); is {
				call = f
			}
			if name, is := call["name"].(string); is && !nameOfTool.MatchString(name) {
				return http.StatusBadRequest, Words(fmt.Sprintf("Invalid 'messages[%d].tool_calls[0].function.name': string does "+
					"not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", i))
			}
		}
	}
	return 0, ""
}

// refuses answers 400 to requests that contain a word.
func refuses(word, message string) func(*Server, Ask) (int, string) {
	return func(_ *Server, a Ask) (int, string) {
		if strings.Contains(a.Raw, word) {
			return http.StatusBadRequest, Words(message)
		}
		return 0, ""
	}
}

// inResponses is a server of Responses that changes its events; the last event does not repeat the items. "then" is an
// additional event after it.
func inResponses(name, source string, change func(e map[string]any)) Flavour {
	return Flavour{Name: name, Source: source, Paths: []string{Responses}, Client: Client{Protocol: "responses"},
		Events: func(events []map[string]any) (out []map[string]any) {
			for _, e := range events {
				e = maps.Clone(e)
				if item, is := e["item"].(object); is {
					e["item"] = maps.Clone(item)
				}
				if whole, is := e["response"].(object); is {
					whole["output"] = []any{}
				}
				change(e)
				then, follows := e["then"].(object)
				delete(e, "then")
				if out = append(out, e); follows {
					out = append(out, then)
				}
			}
			return out
		}}
}

// responsesOnly is a server that serves only Responses.
func responsesOnly(name, source string, refuse func(*Server, Ask) (int, string), c Client) Flavour {
	return Flavour{Name: name, Source: source, Paths: []string{Responses}, Refuse: refuse, Client: c}
}

var reasoningModel = Flavour{Name: "OpenAI: tools on the wrong address",
	Source: "https://github.com/GoogleChromeLabs/webmcp-tools/issues/417", Paths: []string{Chat, Responses},
	Refuse: wantsItems, Opaque: reasoned, Client: Client{Speaks: "responses"}}

var openAI = []Flavour{
	reasoningModel,
	reasoningModel.with(func(f *Flavour) {
		f.Name, f.Reasoning = "OpenAI: an effort is asked for, and no other is given", "high"
		f.Refuse = func(s *Server, a Ask) (int, string) {
			if a.Path == Responses && !strings.Contains(a.Raw, `"effort":"high"`) {
				return http.StatusBadRequest, Words("the model was weakened")
			}
			return wantsItems(s, a)
		}
	}),
	reasoningModel.with(func(f *Flavour) {
		f.Name, f.Source, f.Model = "OpenAI: a name that client libraries refuse",
			"https://github.com/Wei-Shaw/sub2api/issues/6740", "gpt-6-astra"
	}),
	reasoningModel.with(func(f *Flavour) {
		f.Name, f.Source = "OpenAI: it goes on from another model's calls",
			"https://github.com/anomalyco/opencode/issues/3077"
		f.Foreign = true
	}),
	reasoningModel.with(func(f *Flavour) {
		f.Name, f.Source = "OpenAI: only in Responses, said with 404", "https://github.com/openai/codex/issues/2131"
		f.Refuse = func(s *Server, a Ask) (int, string) {
			if a.Path == Chat {
				return http.StatusNotFound, Words("This model is only supported in v1/responses and not in v1/chat/completions.")
			}
			return wantsItems(s, a)
		}
	}),
	reasoningModel.with(func(f *Flavour) {
		f.Name, f.Source = "OpenAI: no chat model", "https://github.com/openai/openai-openapi/issues/541"
		f.Refuse = func(s *Server, a Ask) (int, string) {
			if a.Path == Chat {
				return http.StatusNotFound, Words("This is not a chat model and thus not supported in the v1/chat/completions " +
					"endpoint. Did you mean to use v1/completions?")
			}
			return wantsItems(s, a)
		}
	}),
	reasoningModel.with(func(f *Flavour) {
		f.Name, f.Source = "OpenAI: words have a phase", "https://github.com/earendil-works/pi/issues/1819"
		f.Refuse, f.Phases = wantsPhases, true
	}),
	reasoningModel.with(func(f *Flavour) {
		f.Name, f.Protocol, f.Fails = "OpenAI: a dialect that is configured stays", "chat", "dialect"
	}),
	responsesOnly("OpenAI: a model without reasoning", "https://github.com/OpenHands/software-agent-sdk/pull/1208",
		refuses("encrypted_content", "Encrypted content is not supported with this model."),
		Client{Protocol: "responses", Weaker: "reasoning is not given back"}),
	{Name: "OpenAI: reasoning of another organization", Source: "https://github.com/openai/openai-agents-js/issues/546",
		Paths: []string{Responses}, Opaque: reasoned, Client: Client{Protocol: "responses", Apart: true},
		Refuse: refuses("gAAAAA", "The encrypted content gAAA... could not be verified.")},
	{Name: "OpenAI: an organization that is not verified", Source: "https://github.com/continuedev/continue/issues/7129",
		Paths: []string{Responses}, Client: Client{Protocol: "responses"}, Refuse: refuses(`"stream":true`,
			"Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings.")},
	{Name: "OpenAI: an answer must be shorter", Source: "https://github.com/BerriAI/litellm/issues/4433",
		Client: Client{Weaker: "4096"}, Refuse: refuses(`tokens":8192`,
			"max_tokens is too large: 8192. This model supports at most 4096 completion tokens, whereas you provided 8192.")},
	{Name: "OpenAI: the new name of the bound", Source: "https://github.com/editor-code-assistant/eca/issues/231",
		Refuse: refuses(`"max_tokens"`, "Unsupported parameter: 'max_tokens' is not supported with this model. Use "+
			"'max_completion_tokens' instead.")},
	{Name: "OpenAI: an effort that the model has not", Source: "https://github.com/livekit/agents/issues/5084",
		Client: Client{Reasoning: "xhigh", Weaker: "xhigh"}, Refuse: refuses("xhigh",
			"Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model.")},
	responsesOnly("a subscription without a bound of answers", "https://github.com/RayBytes/ChatMock/issues/103",
		refuses("max_output_tokens", "Unsupported parameter: max_output_tokens"), Client{Protocol: "responses"}),
	responsesOnly("Responses without a cache key", "https://developers.openai.com/api/docs/guides/prompt-caching",
		refuses("prompt_cache_key", "Unknown parameter: 'prompt_cache_key'."), Client{Protocol: "responses"}),
	responsesOnly("Responses without strict", "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
		refuses(`"strict":false`, "Unknown parameter: 'tools[0].strict'."), Client{Protocol: "responses"}),
	responsesOnly("xAI: no include", "https://github.com/openclaw/openclaw/issues/12910",
		refuses(`"include"`, "Argument not supported: include"),
		Client{Protocol: "responses", Weaker: "reasoning is not given back"}),
	{Name: "OpenAI: an effort that the model has not, and those that it has",
		Source: "https://github.com/livekit/agents/issues/5084",
		Client: Client{Reasoning: "xhigh", Weaker: "xhigh is refused; high is asked for"},
		Refuse: func(_ *Server, a Ask) (int, string) {
			if a.Body["reasoning_effort"] == "high" {
				return 0, ""
			}
			return http.StatusBadRequest, Words("Unsupported value: 'reasoning_effort' does not support 'xhigh' with this " +
				"model. Supported values are: 'low', 'medium', and 'high'.")
		}},
	responsesOnly("xAI: no effort in Responses", "https://github.com/earendil-works/pi/issues/8381",
		refuses(`"effort"`, "Model grok-build-0.1 does not support parameter reasoningEffort."),
		Client{Protocol: "responses", Reasoning: "high", Weaker: "high is refused"}),
	inResponses("Copilot: each event names its item otherwise", "https://github.com/BerriAI/litellm/pull/30072",
		func(e object) {
			if item, is := e["item"].(object); is {
				item["id"] = fmt.Sprint(item["id"], e["type"])
			}
		}),
	inResponses("Lemonade: items have no index", "https://github.com/lemonade-sdk/lemonade/issues/3607",
		func(e object) { delete(e, "output_index") }),
	inResponses("LiteLLM: items share an index", "https://github.com/BerriAI/litellm/pull/36375",
		func(e object) { e["output_index"] = 0 }),
	inResponses("arguments come at their end", "https://github.com/lidge-jun/opencodex/pull/4652", func(e object) {
		item, _ := e["item"].(object)
		if args := item["arguments"]; args != nil {
			item["arguments"] = ""
			if e["type"] == "response.output_item.done" {
				return
			}
			e["then"] = object{"type": "response.function_call_arguments.done", "output_index": e["output_index"],
				"item_id": item["id"], "arguments": args}
		}
	}),
	inResponses("an answer that is called done", "https://github.com/jlcodes99/cockpit-tools/issues/2328",
		func(e object) {
			if e["type"] == "response.completed" {
				e["type"] = "response.done"
			}
		}),
	{Name: "OpenAI: an error of its own midway", Source: "https://github.com/openai/codex/issues/38831",
		Paths: []string{Responses}, Client: Client{Speaks: "responses", Free: true, Apart: true},
		Whole: sometimes(`data: {"type":"response.output_text.delta","output_index":0,"delta":"Par"}` + "\n\n" +
			`data: {"type":"response.failed","response":{"id":"r","status":"failed","output":[],"error":{"code":` +
			`"server_error","message":"An error occurred while processing your request."}}}` + "\n\n")},
	responsesOnly("OpenAI: a name that is none, in Responses", "https://github.com/NousResearch/hermes-agent/issues/11411",
		wantsNames, Client{Foreign: true, Speaks: "responses"}),
	{Name: "OpenAI: a name that is none", Source: "https://github.com/mcp-use/mcp-use/pull/94", Refuse: wantsNames,
		Client: Client{Foreign: true}},
	responsesOnly("vLLM: no address but Responses", "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
		nil, Client{Speaks: "responses"}),
}

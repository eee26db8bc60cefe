package flavour

import (
	"fmt"
	"net/http"
	"strings"
)

// details are the reasoning details of OpenRouter's answers.
func details(n int) any {
	return object{"message": object{"reasoning": fmt.Sprintf("So %d.", n), "reasoning_details": []any{
		object{"type": "reasoning.text", "index": 0, "text": fmt.Sprintf("So %d.", n), "signature": fmt.Sprintf("c2ln%d", n)},
		object{"type": "reasoning.encrypted", "index": 1, "data": "ZGF0YQ=="}}}}
}

// inPieces streams the reasoning details in pieces, and the text after them.
func inPieces(m object) []object {
	list, _ := m["reasoning_details"].([]any)
	if len(list) == 0 {
		return []object{m}
	}
	text, _ := list[0].(object)
	words := fmt.Sprint(text["text"])
	piece := func(fields object) object { return object{"reasoning_details": []any{fields}} }
	delete(m, "reasoning_details")
	return []object{
		piece(object{"type": "reasoning.text", "index": 0, "text": words[:2]}),
		piece(object{"type": "reasoning.text", "index": 0, "text": words[2:], "signature": nil}),
		piece(object{"type": "reasoning.text", "index": 0, "signature": text["signature"]}),
		piece(list[1].(object)), m}
}

// wantsDetails refuses what Gemini behind OpenRouter refuses: reasoning that is not returned unchanged.
func wantsDetails(_ *Server, a Ask) (int, string) {
	for _, m := range messagesOf(a) {
		n := answerOf(m)
		if n == 0 {
			continue
		}
		want := details(n).(object)["message"].(object)["reasoning_details"]
		if fmt.Sprint(m["reasoning_details"]) != fmt.Sprint(want) {
			return http.StatusBadRequest, Words("Gemini models require OpenRouter reasoning details to be preserved in each " +
				"request. Please refer to our docs: https://openrouter.ai/docs/use-cases/reasoning-tokens.")
		}
	}
	return 0, ""
}

// comments sends an answer between keep-alive comments.
func comments(s *Server, w http.ResponseWriter, _ Bill) bool {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n")
	return false
}

// passesOn marks an answer as forwarded by a gateway.
func passesOn(_ *Server, w http.ResponseWriter, _ Bill) bool {
	w.Header().Set("X-Litellm-Version", "1.83.0")
	return false
}

var gateways = []Flavour{
	{Name: "LiteLLM in front of Claude: marks are passed on",
		Source: "https://docs.litellm.ai/docs/completion/prompt_caching",
		Marked: true, Whole: passesOn},
	// AnthropicChatCompleteStreamChunkTransform of @portkey-ai/gateway 1.15.2
	{Name: "Portkey in front of Claude: cached tokens are counted beside the prompt",
		Source: "https://www.npmjs.com/package/@portkey-ai/gateway", Marked: true, Extra: object{"provider": "anthropic"},
		Usage: func(b Bill) object {
			return object{"prompt_tokens": b.Input - b.Cached - b.Written, "cache_read_input_tokens": b.Cached,
				"cache_creation_input_tokens": b.Written, "completion_tokens": b.Output, "total_tokens": b.Input + b.Output,
				"prompt_tokens_details": object{"cached_tokens": b.Cached}}
		}},
	{Name: "CLIProxyAPI in front of Claude: what is written to the cache has another name",
		Source: "https://github.com/router-for-me/CLIProxyAPI", Marked: true, Whole: passesOn,
		Usage: func(b Bill) object {
			return object{"prompt_tokens": b.Input, "completion_tokens": b.Output, "total_tokens": b.Input + b.Output,
				"prompt_tokens_details": object{"cached_tokens": b.Cached, "cached_creation_tokens": b.Written}}
		}},
	{Name: "a gateway that refuses marks", Source: "https://github.com/BerriAI/litellm/issues/7790", Whole: passesOn,
		Client: Client{Weaker: "cache"}, Refuse: refuses("cache_control", "cache_control: Extra inputs are not permitted")},
	{Name: "a gateway to a model that takes no lists", Source: "https://github.com/QuantumNous/new-api/issues/5982",
		Whole: passesOn, Client: Client{Weaker: "cache"}, Refuse: func(_ *Server, a Ask) (int, string) {
			for i, m := range messagesOf(a) {
				if _, is := m["content"].([]any); is {
					return http.StatusBadRequest, Words(fmt.Sprintf("Invalid type for 'messages[%d].content': expected a string, "+
						"but got an array instead.", i))
				}
			}
			return 0, ""
		}},
	{Name: "Copilot: a model that is not in chat completions",
		Source: "https://github.com/router-for-me/CLIProxyAPIPlus/issues/41", Paths: []string{Messages, Chat, Responses},
		Client: Client{Speaks: "messages"}, Refuse: func(_ *Server, a Ask) (int, string) {
			if a.Path == Messages {
				return 0, ""
			}
			return http.StatusBadRequest, `{"error":{"message":"model claude-opus-5 is not accessible via the ` +
				strings.TrimPrefix(a.Path, "/v1") + ` endpoint","code":"unsupported_api_for_model"}}`
		}},
	{Name: "Bedrock: a model that is only in Responses", Source: "https://github.com/enricoros/big-AGI/pull/1167",
		Paths: []string{Responses, Chat}, Client: Client{Speaks: "responses"},
		Refuse: func(_ *Server, a Ask) (int, string) {
			if a.Path == Responses {
				return 0, ""
			}
			return http.StatusBadRequest, Words("The model 'openai.gpt-5.6-terra' does not support the '" + Chat + "' API")
		}},
	{Name: "OpenRouter: a failure in the provider's words", Source: "https://github.com/OleksandrChekhovskyi/hax/pull/15",
		Client: Client{Free: true, Apart: true}, Whole: sometimes(
			`data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop",` +
				`"native_finish_reason":"network_error"}]}` + "\n\ndata: [DONE]\n\n")},
	{Name: "OpenRouter: an error beside a choice", Source: "https://github.com/damianvtran/local-operator/pull/223",
		Client: Client{Free: true, Apart: true}, Whole: sometimes(
			`data: {"choices":[{"index":0,"delta":{"content":"Par"}}]}` + "\n\n" +
				`data: {"provider":"openai","error":{"code":"server_error","message":"Provider disconnected unexpectedly"},` +
				`"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}` + "\n\n")},
	{Name: "OpenRouter: details of reasoning go back", Source: "https://openrouter.ai/docs/use-cases/reasoning-tokens",
		Opaque: details, Deltas: inPieces, Refuse: wantsDetails},
	{Name: "OpenRouter: nobody knows a parameter", Source: "https://github.com/openstory-so/openstory/issues/1317",
		Refuse: func(_ *Server, a Ask) (int, string) {
			if a.Body["max_completion_tokens"] == nil {
				return 0, ""
			}
			return http.StatusNotFound, `{"error":{"message":"No endpoints found that can handle the requested parameters. To ` +
				`learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing","code":404}}`
		}},
	{Name: "OpenRouter: comments keep the connection alive", Source: "https://openrouter.ai/docs/api-reference/streaming",
		Whole: comments},
	{Name: "LiteLLM: parameters that are not supported", Source: "https://github.com/BerriAI/litellm/issues/16265",
		Client: Client{Reasoning: "high", Weaker: "high is refused"}, Refuse: refuses("reasoning_effort",
			"litellm.UnsupportedParamsError: mistral does not support parameters: ['reasoning_effort'], for model=x. To drop "+
				"these, set `litellm.drop_params=True`")},
	{Name: "LiteLLM: thinking blocks go back", Source: "https://docs.litellm.ai/docs/reasoning_content",
		Opaque: func(n int) any {
			return object{"message": object{"reasoning_content": fmt.Sprintf("Hm %d.", n), "thinking_blocks": []any{
				object{"type": "thinking", "thinking": fmt.Sprintf("Hm %d.", n), "signature": fmt.Sprintf("c2ln%d", n)}}}}
		},
		Refuse: func(_ *Server, a Ask) (int, string) {
			for _, m := range messagesOf(a) {
				if n := answerOf(m); n > 0 && !strings.Contains(fmt.Sprint(m["thinking_blocks"]),
					fmt.Sprintf("signature:c2ln%d ", n)) {
					return http.StatusBadRequest, Words("messages.1.content.0.type: Expected `thinking` or `redacted_thinking`")
				}
			}
			return 0, ""
		}},
	{Name: "a gateway that does not stream", Source: "https://docs.litellm.ai/docs/completion/stream",
		Refuse: refuses(`"stream":true`, "This model does not support streaming.")},
	{Name: "a gateway that begins with an empty object",
		Source:  "https://github.com/NousResearch/hermes-agent/issues/62940",
		Message: eachCall(func(_, f object) { f["arguments"] = "{}" + fmt.Sprint(f["arguments"]) })},
	{Name: "a proxy that says everything twice", Source: "https://github.com/dyedd/lens/issues/49",
		Message: eachCall(func(_, f object) { f["arguments"] = fmt.Sprint(f["arguments"]) + fmt.Sprint(f["arguments"]) })},
}

// eachCall returns a Message function that changes each call.
func eachCall(change func(call, function object)) func(object) string {
	return func(m object) string {
		calls, _ := m["tool_calls"].([]any)
		for _, c := range calls {
			call, _ := c.(object)
			f, _ := call["function"].(object)
			change(call, f)
		}
		return ""
	}
}

package flavour

import (
	"fmt"
	"net/http"
	"strings"
)

var otherVendors = []Flavour{
	{Name: "xAI: an effort in other letters", Source: "https://github.com/BerriAI/litellm/pull/16265",
		Client: Client{Reasoning: "high", Weaker: "high is refused"}, Refuse: func(_ *Server, a Ask) (int, string) {
			if a.Body["reasoning_effort"] == nil {
				return 0, ""
			}
			return http.StatusBadRequest,
				`{"code":"Client specified an invalid argument","error":"Model grok-4-latest does not ` +
					`support parameter reasoningEffort."}`
		}},
	{Name: "Groq: a field is refused that it sends itself", Source: "https://console.groq.com/docs/reasoning",
		Opaque: func(int) any { return object{"message": object{"reasoning": "Hm."}} },
		Client: Client{Weaker: "reasoning"}, Refuse: refuses(`"reasoning":"Hm."`,
			"'messages.2' : property 'reasoning' is unsupported")},
	{Name: "Groq: a call that it could not read itself", Source: "https://github.com/anomalyco/opencode/issues/1018",
		Client: Client{Apart: true}, Refuse: failsSometimes(http.StatusBadRequest,
			`{"error":{"message":"Failed to call a function. Please adjust your prompt. See `+
				`'failed_generation' for more details.","type":"invalid_request_error","code":"tool_use_failed",`+
				`"failed_generation":"<function=read{\"path\": \"main.go\"}</function>"}}`)},
	{Name: "Cohere: a call that it could not write",
		Source: "https://github.com/deepset-ai/haystack-core-integrations/issues/1693", Client: Client{Apart: true},
		Refuse: failsSometimes(http.StatusUnprocessableEntity, `{"message":"No valid tool call or response generated"}`)},
	{Name: "Cohere: reasons in capitals", Source: "https://github.com/mozilla-ai/any-llm/pull/1301",
		Message: func(m object) string {
			if m["tool_calls"] != nil {
				return "TOOL_CALL"
			}
			return "COMPLETE"
		}},
	{Name: "Gemini: it gives a request up", Source: "https://github.com/google-gemini/gemini-cli/issues/20309",
		Client: Client{Apart: true}, Refuse: failsSometimes(499,
			`[{"error":{"code":499,"message":"The operation was cancelled.","status":"CANCELLED"}}]`)},
	{Name: "Cerebras: reasoning under one of two names", Source: "https://github.com/proxysoul/Empryo/pull/209",
		Opaque: func(int) any { return object{"message": object{"reasoning": "Hm.", "reasoning_content": "Hm."}} },
		Client: Client{Weaker: "reasoning is not given back"}, Refuse: func(_ *Server, a Ask) (int, string) {
			for i, m := range messagesOf(a) {
				if m["reasoning_content"] != nil {
					return http.StatusBadRequest, fmt.Sprintf(`{"message":"messages.%[1]d.assistant.reasoning_content: property `+
						`'messages.%[1]d.assistant.reasoning_content' is unsupported","type":"invalid_request_error",`+
						`"param":"validation_error","code":"wrong_api_format"}`, i)
				}
			}
			return 0, ""
		}},
	{Name: "Azure: an address with a version", Source: "https://github.com/MicrosoftDocs/azure-docs/issues/114602",
		Client: Client{Query: "?api-version=2024-10-21"}, Refuse: func(_ *Server, a Ask) (int, string) {
			switch {
			case a.Query != "api-version=2024-10-21":
				return http.StatusNotFound, `{"error":{"code":"404","message":"Resource not found"}}`
			case a.Header.Get("Authorization") != "" && a.Header.Get("Api-Key") == "":
				return http.StatusUnauthorized, `{"error":{"code":"401","message":"Access denied due to invalid subscription ` +
					`key or wrong API endpoint."}}`
			}
			return 0, ""
		}},
	{Name: "z.ai: the network failed", Source: "https://docs.z.ai/api-reference/llm/chat-completion",
		Client: Client{Apart: true, Free: true}, Message: failsOnce("network_error")},
	{Name: "Gemini: a call that it could not write", Source: "https://ai.google.dev/api/generate-content#FinishReason",
		Client: Client{Apart: true, Free: true}, Message: failsOnce("MALFORMED_FUNCTION_CALL")},
	{Name: "MiniMax: a status in each answer", Source: "https://platform.minimax.io/docs/api-reference/text-openai-api",
		Extra: object{"base_resp": object{"status_code": 0, "status_msg": ""}}},
	{Name: "Groq: an answer must be shorter", Source: "https://github.com/Alishahryar1/free-claude-code/issues/955",
		Client: Client{Weaker: "4096"},
		Refuse: refuses(`tokens":8192`, "`max_completion_tokens` must be less than or "+
			"equal to `4096`, the maximum value for `max_completion_tokens` is less than the `context_window` for this model")},
	{Name: "GPUStack: an answer must be shorter", Source: "https://github.com/gpustack/gpustack/issues/3685",
		Client: Client{Weaker: "4096"},
		Refuse: refuses(`tokens":8192`, `Illegal param: "max_completion_tokens" or `+
			`"max_tokens" must be less than or equal to the model's context length.`)},
	{Name: "xAI: each message has content", Source: "https://github.com/langchain-ai/langchain/issues/34140",
		Refuse: noContent("Invalid request content: Each message must have at least one content element.")},
	{Name: "MiniMax: content is not empty", Source: "https://github.com/earendil-works/pi/issues/3365",
		Refuse: func(s *Server, a Ask) (int, string) {
			if strings.Contains(a.Raw, `"content":""`) {
				return http.StatusBadRequest, Words("invalid params, chat content is empty (2013)")
			}
			return noContent("invalid params, chat content is empty (2013)")(s, a)
		}},
	{Name: "Copilot: each call is a choice", Source: "https://github.com/karthink/gptel/pull/1284", Choices: true},
	{Name: "Perplexity: the message so far beside each piece", SoFar: true,
		Source: "https://github.com/open-webui/open-webui/issues/9927"},
	{Name: "Azure: a filter's verdict without a choice comes first",
		Source: "https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-streaming",
		Whole: func(_ *Server, w http.ResponseWriter, _ Bill) bool {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, `data: {"choices":[],"created":0,"id":"","model":"","object":"",`+
				`"prompt_filter_results":[{"prompt_index":`+
				`0,"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}}]}`+"\n\n")
			return false
		}},
}

// failsOnce returns a Message function that ends every third answer with an invalid finish reason.
func failsOnce(reason string) func(object) string {
	n := 0
	return func(m object) string {
		if n++; n%3 != 2 {
			return ""
		}
		m["content"] = ""
		delete(m, "tool_calls")
		return reason
	}
}

// asText returns a Message function that writes the calls of a message as text.
func asText(write func(name, args string) string) func(object) string {
	return func(m object) string {
		text := fmt.Sprint(m["content"])
		calls, _ := m["tool_calls"].([]any)
		for _, c := range calls {
			f, _ := c.(object)["function"].(object)
			text += "\n" + write(fmt.Sprint(f["name"]), fmt.Sprint(f["arguments"]))
		}
		m["content"] = strings.TrimSpace(text)
		delete(m, "tool_calls")
		return "stop"
	}
}

package flavour

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// inWindow refuses prompts and answers that together exceed a window of n tokens; words is a format for the message,
// with the window, the prompt and the answer.
func inWindow(n int, words string) func(*Server, Ask) (int, string) {
	return func(_ *Server, a Ask) (int, string) {
		most, _ := a.Body["max_tokens"].(float64)
		if prompt := tokensOf(a.Raw); prompt+int(most) > n {
			return http.StatusBadRequest, Words(fmt.Sprintf(words, n, prompt, int(most)))
		}
		return 0, ""
	}
}

// noContent refuses null as content.
func noContent(words string) func(*Server, Ask) (int, string) {
	return func(_ *Server, a Ask) (int, string) {
		for _, m := range messagesOf(a) {
			if m["content"] == nil {
				return http.StatusBadRequest, Words(words)
			}
		}
		return 0, ""
	}
}

// typedContent refuses content that is no text, as FastAPI does: the error has separate fields for place and reason.
func typedContent(wrong string) func(*Server, Ask) (int, string) {
	return func(_ *Server, a Ask) (int, string) {
		for i, m := range messagesOf(a) {
			if _, is := m["content"].(string); !is {
				return http.StatusUnprocessableEntity, fmt.Sprintf(`{"detail":[{"loc":["body","messages",%d,"content"],%s}]}`,
					i, wrong)
			}
		}
		return 0, ""
	}
}

// noSystem refuses system messages.
func noSystem(words string) func(*Server, Ask) (int, string) {
	return func(_ *Server, a Ask) (int, string) {
		if list := messagesOf(a); len(list) > 0 && list[0]["role"] == "system" {
			return http.StatusBadRequest, Words(words)
		}
		return 0, ""
	}
}

var localServers = []Flavour{
	{Name: "Ollama: content must be a text", Source: "https://github.com/pydantic/pydantic-ai/issues/5206",
		Refuse: noContent("invalid message content type: <nil>")},
	{Name: "FastAPI: content must be a text", Source: "https://github.com/kvcache-ai/ktransformers/issues/773",
		Refuse: typedContent(`"msg":"Input should be a valid string","type":"string_type","input":null`)},
	{Name: "FastAPI with pydantic 1: content must be a text", Source: "https://docs.pydantic.dev/1.10/usage/models/",
		Refuse: typedContent(`"msg":"none is not an allowed value","type":"type_error.none.not_allowed"`)},
	{Name: "LM Studio: content must be a text", Source: "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/261",
		Refuse: noContent("Invalid 'content': 'content' field must be a string or an array of objects.")},
	{Name: "Ollama: no ids and no numbers", Source: "https://github.com/ollama/ollama/issues/6708",
		Message: eachCall(func(c, _ object) { delete(c, "id"); delete(c, "index") })},
	{Name: "ids begin anew in each answer", Source: "https://github.com/editor-code-assistant/eca/issues/233",
		Message: eachCall(func(c, _ object) { c["id"] = fmt.Sprint(c["index"]) })},
	{Name: "an id of its own for each piece", Source: "https://github.com/poolsideai/pool/issues/9",
		Deltas: func(m object) (list []object) {
			calls, _ := m["tool_calls"].([]any)
			delete(m, "tool_calls")
			list = append(list, m)
			for i, one := range calls {
				f, _ := one.(object)["function"].(object)
				args := fmt.Sprint(f["arguments"])
				piece := func(n int, function object) {
					list = append(list, object{"tool_calls": []any{object{"index": i, "id": fmt.Sprintf("call-%d-%d", i, n),
						"type": "function", "function": function}}})
				}
				piece(0, object{"name": f["name"], "arguments": ""})
				piece(1, object{"arguments": args[:3]})
				piece(2, object{"arguments": args[3:]})
			}
			return list
		}},
	{Name: "llama.cpp: arguments are an object", Source: "https://github.com/ggml-org/llama.cpp/issues/20198",
		Message: eachCall(func(_, f object) { f["arguments"] = json.RawMessage(fmt.Sprint(f["arguments"])) })},
	{Name: "llama.cpp: arguments are in a string twice", Source: "https://github.com/ggml-org/llama.cpp/issues/20202",
		Message: eachCall(func(_, f object) { f["arguments"] = fmt.Sprintf("%q", f["arguments"]) })},
	// openai/openai.go of ollama/ollama; the same in llama.cpp before 2025-05
	{Name: "Ollama: only max_tokens is a bound", Source: "https://github.com/ollama/ollama/issues/18575",
		Say: func(a Ask) Turn {
			if _, bound := a.Body["max_tokens"].(float64); !bound { // an answer without an end
				return Turn{Text: strings.Repeat("and so on ", 1<<20)}
			}
			return reading(a)
		}},
	{Name: "llama.cpp: a window of 8,192 tokens",
		Source: "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
		Client: Client{Weaker: "8192"}, Refuse: func(s *Server, a Ask) (int, string) {
			if status, _ := inWindow(8192, "%d%d%d")(s, a); status == 0 {
				return 0, ""
			}
			return http.StatusBadRequest,
				`{"error":{"code":400,"message":"the request exceeds the available context size, try ` +
					`increasing it","type":"exceed_context_size_error","n_prompt_tokens":20000,"n_ctx":8192}}`
		}},
	{Name: "vLLM: a window that leaves no room for the answer",
		Source: "https://github.com/vllm-project/vllm/issues/20409",
		Client: Client{Weaker: "8192"}, Refuse: inWindow(8192, "'max_tokens' or 'max_completion_tokens' is too large. This "+
			"model's maximum context length is %d tokens and your request has %d input tokens (%d requested).")},
	{Name: "TGI: a window that leaves no room for the answer", Source: "https://github.com/huggingface/chat-ui/issues/340",
		Client: Client{Weaker: "8192"},
		Refuse: inWindow(8192, "Input validation error: `inputs` tokens + `max_new_tokens` must "+
			"be <= %d. Given: %d `inputs` tokens and %d `max_new_tokens`")},
	{Name: "Ollama: a model that does not think", Source: "https://github.com/CherryHQ/cherry-studio/pull/18744",
		Client: Client{Reasoning: "high", Weaker: "high is refused"}, Refuse: refuses("reasoning_effort",
			`"gemma4:26b" does not support thinking`)},
	{Name: "Ollama: an effort that the model has not", Source: "https://github.com/ollama/ollama/issues/12561",
		Client: Client{Reasoning: "medium", Weaker: "medium is refused"}, Refuse: refuses("reasoning_effort",
			`think value "medium" is not supported for this model`)},
	{Name: "vLLM: stream_options are not known", Source: "https://github.com/vllm-project/vllm/issues/5135",
		Refuse: refuses("stream_options", "stream_options: Extra inputs are not permitted")},
	{Name: "vLLM: no end, and nothing counted", Source: "https://github.com/vllm-project/vllm/issues/5135", NoDone: true,
		Client: Client{Free: true}, Usage: func(Bill) object { return nil }, Message: func(m object) string {
			if m["tool_calls"] == nil {
				return "eos"
			}
			return ""
		}},
	{Name: "a finish that is wrong", Source: "https://github.com/ggml-org/llama.cpp/issues/20202",
		Message: func(object) string { return "stop" }},
	{Name: "Gemma: no role for instructions", Source: "https://github.com/huggingface/chat-ui/issues/1386",
		Refuse: noSystem("System role not supported")},
	{Name: "SGLang: a refusal with 500", Source: "https://github.com/sgl-project/sglang/issues/892",
		Refuse: func(s *Server, a Ask) (int, string) {
			if status, body := noSystem("System role not supported")(s, a); status != 0 {
				return http.StatusInternalServerError, body
			}
			return 0, ""
		}},
	{Name: "MiniMax: no role for instructions", Source: "https://github.com/BigPizzaV3/CodexPlusPlus/issues/267",
		Refuse: noSystem("invalid params, chat content has invalid message role: system (2013)")},
	{Name: "Llama: one call at once", Source: "https://github.com/unslothai/unsloth/pull/7426",
		Refuse: func(_ *Server, a Ask) (int, string) {
			for _, m := range messagesOf(a) {
				if calls, _ := m["tool_calls"].([]any); len(calls) > 1 {
					return http.StatusBadRequest, Words("This model only supports single tool-calls at once!")
				}
			}
			return 0, ""
		}},
	{Name: "vLLM: a channel stands in the name", Source: "https://github.com/vllm-project/vllm/pull/42454",
		Message: eachCall(func(_, f object) { f["name"] = fmt.Sprintf("functions.%s<|channel|>commentary", f["name"]) })},
	{Name: "llama.cpp: the kind of arguments stands in the name",
		Source:  "https://github.com/ggml-org/llama.cpp/pull/15158",
		Message: eachCall(func(_, f object) { f["name"] = fmt.Sprintf("functions.%sjson", f["name"]) })},
	{Name: "LocalAI: a call at several indexes", Source: "https://github.com/mudler/LocalAI/issues/9722",
		Deltas: func(m object) (list []object) {
			calls, _ := m["tool_calls"].([]any)
			delete(m, "tool_calls")
			list = append(list, m)
			for i, one := range calls {
				call, _ := one.(object)
				f, _ := call["function"].(object)
				list = append(list,
					object{"tool_calls": []any{object{"index": 2 * i, "id": call["id"], "function": object{"name": f["name"]}}}},
					object{"tool_calls": []any{object{"index": 2*i + 1, "id": call["id"], "function": object{
						"name": f["name"], "arguments": f["arguments"]}}}})
			}
			return list
		}},
	{Name: "LocalAI: a template that wants objects of arguments", Source: "https://github.com/mudler/LocalAI/pull/10256",
		Refuse: func(_ *Server, a Ask) (int, string) {
			for _, m := range messagesOf(a) {
				calls, _ := m["tool_calls"].([]any)
				for _, c := range calls {
					f, _ := c.(object)["function"].(object)
					if _, is := f["arguments"].(object); !is {
						return http.StatusInternalServerError, Words("TypeError: Can only get item pairs from a mapping.")
					}
				}
			}
			return 0, ""
		}},
	{Name: "llama.cpp: a call that its parser can't read", Source: "https://github.com/ggml-org/llama.cpp/issues/23838",
		Client: Client{Free: true, Apart: true}, Whole: sometimes(
			`data: {"error":{"code":500,"message":"Failed to parse input at pos 0: <|tool_call_start|>[read(path=` +
				`'rate limit')]<|tool_call_end|>","type":"server_error"}}` + "\n\n")},
	{Name: "gpt-oss: reasoning or text beside calls", Source: "https://github.com/openclaw/openclaw/issues/6514",
		Opaque: func(n int) any { return object{"message": object{"reasoning_content": fmt.Sprintf("Hm %d.", n)}} },
		Refuse: func(_ *Server, a Ask) (int, string) {
			for _, m := range messagesOf(a) {
				text, _ := m["content"].(string)
				if m["tool_calls"] != nil && m["reasoning_content"] != nil && text != "" {
					return http.StatusInternalServerError, Words("Jinja Exception: Cannot pass both content and thinking in an " +
						"assistant message with tool calls! Put the analysis message in one or the other, but not both.")
				}
				if m["tool_calls"] != nil && m["reasoning_content"] == nil {
					return http.StatusBadRequest, Words("the reasoning did not come back")
				}
			}
			return 0, ""
		}},
	// examples/server/server-chat.cpp of ikawrakow/ik_llama.cpp, as in llama.cpp
	{Name: "llama.cpp: items of Responses have a type", Source: "https://github.com/Wei-Shaw/sub2api/issues/2150",
		Paths: []string{Responses}, Client: Client{Protocol: "responses"}, Refuse: func(_ *Server, a Ask) (int, string) {
			for _, m := range messagesOf(a) {
				if m["role"] == "assistant" && (m["type"] != "message" || !strings.Contains(fmt.Sprint(m["content"]),
					"type:output_text")) {
					return http.StatusInternalServerError, Words("Cannot determine type of 'item'")
				}
			}
			return 0, ""
		}},
	{Name: "thoughts in the words", Source: "https://github.com/MiniMax-AI/MiniMax-M2",
		Message: func(m object) string {
			m["content"] = fmt.Sprintf("<think>\nIt may be <tool_call> that helps.\n</think>\n\n%s", m["content"])
			return ""
		},
		Refuse: func(_ *Server, a Ask) (int, string) {
			for _, m := range messagesOf(a) {
				if m["role"] == "assistant" && !strings.HasPrefix(fmt.Sprint(m["content"]), "<think>\nIt may be") {
					return http.StatusBadRequest, Words("the model's thinking did not come back")
				}
			}
			return 0, ""
		}},
	{Name: "thoughts whose beginning is in the prompt", Source: "https://github.com/vllm-project/vllm/issues/13125",
		Message: func(m object) string { m["content"] = fmt.Sprintf("So it is.\n</think>\n%s", m["content"]); return "" }},
}

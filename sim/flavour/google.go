package flavour

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// signed is the signature field of the first call of Gemini's answers.
func signed(n int) any {
	return object{"call": object{"extra_content": object{"google": object{
		"thought_signature": fmt.Sprintf("sig-%d-<&>", n)}}}}
}

// wantsSignature refuses a call without its signature. The documented placeholder is accepted for calls of other
// models.
func wantsSignature(_ *Server, a Ask) (int, string) {
	for _, m := range messagesOf(a) {
		calls, _ := m["tool_calls"].([]any)
		if len(calls) == 0 {
			continue
		}
		var got struct {
			Google struct {
				Signature string `json:"thought_signature"`
			} `json:"google"`
		}
		b, err := json.Marshal(calls[0].(object)["extra_content"])
		if err != nil || json.Unmarshal(b, &got) != nil {
			return http.StatusBadRequest, Words("not JSON")
		}
		n, has := answerOf(m), got.Google.Signature
		own, standIn := strings.HasPrefix(has, "sig-"), has == "skip_thought_signature_validator"
		if n > 0 && has != fmt.Sprintf("sig-%d-<&>", n) || n == 0 && !own && !standIn {
			return http.StatusBadRequest, inList("Function call is missing a thought_signature in functionCall parts. This is " +
				"required for tools to work correctly.")
		}
	}
	return 0, ""
}

// inList is an error in Gemini's format.
func inList(message string) string {
	return `[{"error":{"code":400,"message":` + fmt.Sprintf("%q", message) + `,"status":"INVALID_ARGUMENT"}}]`
}

var gemini = Flavour{Name: "Gemini: signatures go back", Source: "https://github.com/openai/openai-python/issues/2758",
	Refuse: wantsSignature, Opaque: signed}

var google = []Flavour{
	gemini,
	gemini.with(func(f *Flavour) {
		f.Name, f.Source, f.Foreign = "Gemini: signatures after another model",
			"https://github.com/agentjido/req_llm/pull/427", true
	}),
	{Name: "Gemini: results have names", Source: "https://github.com/langflow-ai/langflow/issues/9437",
		Refuse: func(_ *Server, a Ask) (int, string) {
			for i, m := range messagesOf(a) {
				if m["role"] == "tool" && m["name"] == nil {
					return http.StatusBadRequest, inList(fmt.Sprintf("* GenerateContentRequest.contents[%d].parts[0]."+
						"function_response.name: Name cannot be empty.\n", i))
				}
			}
			return 0, ""
		}},
	{Name: "Gemini: calls that share an index", Source: "https://github.com/NousResearch/hermes-agent/issues/62940",
		Deltas: func(m object) (list []object) {
			calls, _ := m["tool_calls"].([]any)
			for _, c := range calls {
				c.(object)["index"], c.(object)["id"] = 0, ""
				list = append(list, object{"tool_calls": []any{c}})
			}
			delete(m, "tool_calls")
			return append([]object{m}, list...)
		}},
	{Name: "Gemini: a schema with less in it", Source: "https://github.com/googleapis/python-genai/issues/1815",
		Refuse: func(_ *Server, a Ask) (int, string) {
			if b, err := json.Marshal(a.Body["tools"]); err == nil && strings.Contains(string(b), "additionalProperties") {
				return http.StatusBadRequest, inList(`Invalid JSON payload received. Unknown name "additionalProperties" at ` +
					`'tools[0].function_declarations[0].parameters': Cannot find field.`)
			}
			return 0, ""
		}},
	{Name: "Gemini: keywords that it does not know", Source: "https://github.com/openswarm-ai/openswarm/issues/24",
		Refuse: func(_ *Server, a Ask) (int, string) {
			b, err := json.Marshal(a.Body["tools"])
			words := ""
			for _, keyword := range []string{"$schema", "minimum", "additionalProperties"} {
				if err == nil && strings.Contains(string(b), fmt.Sprintf("%q:", keyword)) {
					words += fmt.Sprintf("Invalid JSON payload received. Unknown name %q at 'tools[0].function_declarations[0]."+
						"parameters': Cannot find field.\n", keyword)
				}
			}
			if words == "" {
				return 0, ""
			}
			return http.StatusBadRequest, inList(words)
		}},
	{Name: "xAI: reasoning is counted beside the answer", Source: "https://docs.x.ai/docs/guides/reasoning",
		Usage: func(b Bill) object {
			return object{"prompt_tokens": b.Input, "completion_tokens": 1, "total_tokens": b.Input + b.Output,
				"prompt_tokens_details": object{"cached_tokens": b.Cached}}
		}},
}

package flavour

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

var nineLetters = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

// wantsNine refuses ids that are not nine letters or digits; own reports whether it accepts its own, which are not.
func wantsNine(own bool) func(*Server, Ask) (int, string) {
	return func(_ *Server, a Ask) (int, string) {
		for _, m := range messagesOf(a) {
			ids := []string{}
			calls, _ := m["tool_calls"].([]any)
			for _, c := range calls {
				ids = append(ids, fmt.Sprint(c.(object)["id"]))
			}
			if id, ok := m["tool_call_id"].(string); ok {
				ids = append(ids, id)
			}
			for _, id := range ids {
				if !nineLetters.MatchString(id) && !(own && strings.HasPrefix(id, "call_")) {
					return http.StatusBadRequest, fmt.Sprintf(`{"object":"error","message":"Tool call id was %s but must be a-z, `+
						`A-Z, 0-9, with a length of 9.","type":"invalid_function_call","code":"3280"}`, id)
				}
			}
		}
		return 0, ""
	}
}

// forbids refuses a parameter as FastAPI's servers do.
func forbids(parameter string) func(*Server, Ask) (int, string) {
	return func(_ *Server, a Ask) (int, string) {
		if _, there := a.Body[parameter]; !there {
			return 0, ""
		}
		return http.StatusUnprocessableEntity,
			fmt.Sprintf(`{"object":"error","message":{"detail":[{"type":"extra_forbidden",`+
				`"loc":["body",%q],"msg":"Extra inputs are not permitted","input":1}]},"type":"invalid_request_error","code":null}`,
				parameter)
	}
}

// inOrder refuses a user message right after a tool message.
func inOrder(words string) func(*Server, Ask) (int, string) {
	return func(_ *Server, a Ask) (int, string) {
		before := any("")
		for _, m := range messagesOf(a) {
			if m["role"] == "user" && (before == "tool" || before == "user") {
				return http.StatusBadRequest, fmt.Sprintf(`{"object":"error","message":%q,"type":"invalid_request_message_order",`+
					`"code":"3230"}`, words)
			}
			before = m["role"]
		}
		return 0, ""
	}
}

var mistral = []Flavour{
	{Name: "Mistral: ids of nine letters, but for its own", Source: "https://github.com/anomalyco/opencode/issues/1680",
		Refuse: wantsNine(true)},
	{Name: "a server that refuses its own ids", Source: "https://github.com/jundot/omlx/pull/1997",
		Refuse: wantsNine(false)},
	{Name: "Mistral: ids after another model", Source: "https://github.com/openclaw/openclaw/issues/57672",
		Refuse: wantsNine(true), Client: Client{Foreign: true}},
	{Name: "Mistral: max_completion_tokens is forbidden",
		Source: "https://github.com/editor-code-assistant/eca/issues/231",
		Refuse: forbids("max_completion_tokens")},
	{Name: "Mistral: stream_options are forbidden", Source: "https://github.com/avante-corp/avante.nvim/issues/2347",
		Refuse: forbids("stream_options")},
	{Name: "Mistral: a user after a tool", Source: "https://github.com/aaif-goose/goose/issues/5998",
		Refuse: inOrder("Unexpected role 'user' after role 'tool'")},
	{Name: "a template in which roles alternate", Source: "https://github.com/charmbracelet/crush/issues/279",
		Refuse: inOrder("After the optional system message, conversation roles must alternate user and assistant roles")},
	{Name: "Mistral: reasoning of others is forbidden", Source: "https://github.com/charmbracelet/crush/issues/1590",
		Opaque: thoughts, Client: Client{Weaker: "reasoning is not given back"},
		Refuse: func(_ *Server, a Ask) (int, string) {
			if strings.Contains(a.Raw, "reasoning_content") {
				return http.StatusUnprocessableEntity,
					`{"detail":[{"type":"extra_forbidden","loc":["body","messages",2,"assistant",` +
						`"reasoning_content"],"msg":"Extra inputs are not permitted"}]}`
			}
			return 0, ""
		}},
	{Name: "Mistral: thinking is a block of the content", Source: "https://docs.mistral.ai/capabilities/reasoning/",
		Message: func(m object) string {
			m["content"] = []any{object{"type": "thinking", "thinking": []any{object{"type": "text", "text": "Hm, so."}}},
				object{"type": "text", "text": m["content"]}}
			return ""
		},
		Refuse: func(_ *Server, a Ask) (int, string) {
			for _, m := range messagesOf(a) {
				if m["role"] == "assistant" && !strings.Contains(fmt.Sprint(m["content"]), "Hm, so.") {
					return http.StatusBadRequest, Words("the model's thinking did not come back")
				}
			}
			return 0, ""
		}},
	{Name: "content is a list", Source: "https://github.com/HKUDS/nanobot/issues/2494",
		Message: func(m object) string {
			text := fmt.Sprint(m["content"])
			half := len(text) / 2
			m["content"] = []any{object{"type": "text", "text": text[:half]}, object{"type": "text", "text": text[half:]}}
			return ""
		}},
}

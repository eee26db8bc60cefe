package flavour

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// Messages and items of a request.

func messagesOf(a Ask) (list []map[string]any) {
	all, _ := a.Body["messages"].([]any)
	if a.Path == Responses {
		all, _ = a.Body["input"].([]any)
	}
	for _, one := range all {
		if m, ok := one.(map[string]any); ok {
			list = append(list, m)
		}
	}
	return list
}

func hasTools(a Ask) bool { _, ok := a.Body["tools"]; return ok }

// reasoned is a reasoning item of Responses.
func reasoned(turn int) any {
	return object{"type": "reasoning", "id": fmt.Sprintf("rs_%d", turn), "summary": []any{},
		"encrypted_content": fmt.Sprintf("gAAAAA-%d-<&>/+=", turn)}
}

// wantsItems refuses what OpenAI's reasoning models refuse: a call of theirs without the
// reasoning item that came with it, word for word, and stored items.
func wantsItems(_ *Server, a Ask) (int, string) {
	if a.Path == Chat {
		if hasTools(a) {
			return http.StatusBadRequest, Say("Function tools with reasoning_effort are not supported for gpt-5.6-terra in " +
				"/v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.")
		}
		return 0, ""
	}
	if store, there := a.Body["store"].(bool); !there || store {
		return http.StatusBadRequest, Say("this test wants store: false")
	}
	if !strings.Contains(a.Raw, `"reasoning.encrypted_content"`) {
		return http.StatusBadRequest, Say("this test wants encrypted reasoning")
	}
	last := ""
	for _, m := range messagesOf(a) {
		switch m["type"] {
		case "reasoning":
			last, _ = m["encrypted_content"].(string)
		case "function_call":
			var turn, n int
			if _, err := fmt.Sscanf(fmt.Sprint(m["call_id"]), "call_%d_%d", &turn, &n); err == nil {
				if want := reasoned(turn).(object)["encrypted_content"]; last != want {
					return http.StatusBadRequest, Say(fmt.Sprintf("Item 'fc_%d' of type 'function_call' was provided without its "+
						"required 'reasoning' item: 'rs_%d'.", turn, turn))
				}
			}
		}
	}
	return 0, ""
}

// thoughts is a field of DeepSeek's answers.
func thoughts(turn int) any {
	return object{"message": object{"reasoning_content": fmt.Sprintf("I think %d <&>.", turn)}}
}

// wantsThoughts refuses an answer without the reasoning that came with it.
func wantsThoughts(_ *Server, a Ask) (int, string) {
	for _, m := range messagesOf(a) {
		if m["role"] != "assistant" {
			continue
		}
		got, there := m["reasoning_content"].(string)
		own, want := turnOfCalls(m), ""
		if own >= 0 {
			want = thoughts(own).(object)["message"].(object)["reasoning_content"].(string)
		}
		if !there || own >= 0 && got != want {
			return http.StatusBadRequest, Say("The `reasoning_content` in the thinking mode must be passed back to the API.")
		}
	}
	return 0, ""
}

// turnOfCalls is the turn in which this server made a message's calls; -1: another did.
func turnOfCalls(m map[string]any) int {
	calls, _ := m["tool_calls"].([]any)
	if len(calls) == 0 {
		return -1
	}
	var turn, n int
	if _, err := fmt.Sscanf(fmt.Sprint(calls[0].(map[string]any)["id"]), "call_%d_%d", &turn, &n); err != nil {
		return -1
	}
	return turn
}

// signed is a field of the first call of Gemini's answers.
func signed(turn int) any {
	return object{"call": object{"extra_content": object{"google": object{
		"thought_signature": fmt.Sprintf("sig-%d-<&>", turn)}}}}
}

// wantsSignature refuses a call without its signature; the documented stand-in is one.
func wantsSignature(_ *Server, a Ask) (int, string) {
	for _, m := range messagesOf(a) {
		calls, _ := m["tool_calls"].([]any)
		if len(calls) == 0 {
			continue
		}
		b, _ := json.Marshal(calls[0].(map[string]any)["extra_content"])
		var got struct {
			Google struct {
				Signature string `json:"thought_signature"`
			} `json:"google"`
		}
		_ = json.Unmarshal(b, &got)
		want := "skip_thought_signature_validator"
		if turn := turnOfCalls(m); turn >= 0 {
			want = fmt.Sprintf("sig-%d-<&>", turn)
		}
		if got.Google.Signature != want {
			return http.StatusBadRequest, `[{"error":{"code":400,"message":"Function call is missing a thought_signature in ` +
				`functionCall parts. This is required for tools to work correctly.","status":"INVALID_ARGUMENT"}}]`
		}
	}
	return 0, ""
}

var nineLetters = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

// wantsNine refuses ids that are not nine letters or digits; own says whether it takes its
// own, which are none.
func wantsNine(own bool) func(*Server, Ask) (int, string) {
	return func(_ *Server, a Ask) (int, string) {
		for _, m := range messagesOf(a) {
			calls, _ := m["tool_calls"].([]any)
			ids := []string{}
			for _, c := range calls {
				ids = append(ids, fmt.Sprint(c.(map[string]any)["id"]))
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

// thinking are blocks of Claude's answers.
func thinking(turn int) any {
	return []any{
		object{"type": "thinking", "thinking": fmt.Sprintf("Hm %d <&>.", turn),
			"signature": fmt.Sprintf("c2ln%d==", turn)},
		object{"type": "redacted_thinking", "data": fmt.Sprintf("ZGF0YQ%d", turn)},
	}
}

// wantsThinking refuses what Anthropic's endpoint refuses: more than four marks, a final
// answer with calls that lacks its thinking, an altered block, and empty texts.
func wantsThinking(_ *Server, a Ask) (int, string) {
	if n := Marks(a.Body); n > 4 {
		return http.StatusBadRequest,
			Say(fmt.Sprintf("A maximum of 4 blocks with cache_control may be provided. Found %d.", n))
	}
	if a.Header.Get("Anthropic-Version") == "" || a.Body["max_tokens"] == nil {
		return http.StatusBadRequest, Say("max_tokens: Field required")
	}
	_, asks := a.Body["thinking"]
	for i, m := range messagesOf(a) {
		blocks, _ := m["content"].([]any)
		first, calls, own := "", false, -1
		for _, one := range blocks {
			b := one.(map[string]any)
			kind, _ := b["type"].(string)
			if first == "" {
				first = kind
			}
			switch kind {
			case "tool_use":
				calls = true
				var n int
				_, _ = fmt.Sscanf(fmt.Sprint(b["id"]), "toolu_%d_%d", &own, &n)
			case "text":
				if strings.TrimSpace(fmt.Sprint(b["text"])) == "" {
					return http.StatusBadRequest, Say("messages: text content blocks must be non-empty")
				}
			case "thinking":
				var n int
				if _, err := fmt.Sscanf(fmt.Sprint(b["thinking"]), "Hm %d <&>.", &n); err != nil ||
					b["signature"] != fmt.Sprintf("c2ln%d==", n) {
					return http.StatusBadRequest, Say(fmt.Sprintf("messages.%d.content.0: Invalid `signature` in `thinking` block", i))
				}
			}
		}
		if asks && m["role"] == "assistant" && calls && first != "thinking" && first != "redacted_thinking" {
			return http.StatusBadRequest, Say(fmt.Sprintf("messages.%d.content.0.type: Expected `thinking` or "+
				"`redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a "+
				"thinking block.", i, first))
		}
	}
	return 0, ""
}

// The flavours that keep state. Those that only have a form of their own are beside the
// tests of that form.
var (
	OpenAI = Flavour{Name: "OpenAI's reasoning models",
		Source: "https://github.com/GoogleChromeLabs/webmcp-tools/issues/417",
		Paths:  []string{Responses, Chat}, Refuse: wantsItems, Opaque: func(turn int) any { return reasoned(turn) }}
	DeepSeek = Flavour{Name: "DeepSeek, thinking", Source: "https://github.com/earendil-works/pi/issues/3636",
		Paths: []string{Chat}, Refuse: wantsThoughts, Opaque: thoughts}
	Gemini = Flavour{Name: "Gemini 3, compatible address", Source: "https://github.com/openai/openai-python/issues/2758",
		Paths: []string{Chat}, Refuse: wantsSignature, Opaque: signed}
	Mistral = Flavour{Name: "Mistral", Source: "https://github.com/anomalyco/opencode/issues/1680",
		Paths: []string{Chat}, Refuse: wantsNine(true)}
	MistralLocal = Flavour{Name: "a server that refuses its own ids", Source: "https://github.com/jundot/omlx/pull/1997",
		Paths: []string{Chat}, Refuse: wantsNine(false)}
	Anthropic = Flavour{Name: "Anthropic", Source: "https://github.com/pydantic/pydantic-ai/issues/2075",
		Paths: []string{Messages}, Refuse: wantsThinking, Opaque: thinking, Marked: true}
	OpenRouter = Flavour{Name: "OpenRouter in front of Claude",
		Source: "https://openrouter.ai/docs/features/prompt-caching",
		Paths:  []string{Chat}, Marked: true, Reply: func(s *Server, w http.ResponseWriter, a Ask, t Turn) bool {
			w.Header().Set("X-Litellm-Version", "1.83.0")
			s.Usual(w, a, t)
			return true
		}}
)

// Stateful are the flavours that keep state.
func Stateful() []Flavour {
	return []Flavour{OpenAI, DeepSeek, Gemini, Mistral, MistralLocal, Anthropic, OpenRouter}
}

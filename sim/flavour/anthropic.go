package flavour

import (
	"fmt"
	"hash/crc32"
	"maps"
	"net/http"
	"strings"
)

// thinking are thinking blocks of Claude's answers.
func thinking(n int) any {
	return []any{object{"type": "thinking", "thinking": fmt.Sprintf("Hm %d <&>.", n),
		"signature": fmt.Sprintf("c2ln%d==", n)}, object{"type": "redacted_thinking", "data": fmt.Sprintf("ZGF0YQ%d", n)}}
}

// wantsThinking refuses what Anthropic's endpoint refuses: more than four cache marks, a final answer with calls that
// lacks its thinking, an altered block, and empty texts.
func wantsThinking(_ *Server, a Ask) (int, string) {
	if n := Marks(a.Body); n > 4 {
		return http.StatusBadRequest,
			Words(fmt.Sprintf("A maximum of 4 blocks with cache_control may be provided. Found %d.", n))
	}
	if a.Header.Get("Anthropic-Version") == "" || a.Body["max_tokens"] == nil {
		return http.StatusBadRequest, Words("max_tokens: Field required")
	}
	_, asks := a.Body["thinking"]
	for i, m := range messagesOf(a) {
		blocks, _ := m["content"].([]any)
		first, calls, n := "", false, 0
		for _, one := range blocks {
			b, _ := one.(object)
			kind, _ := b["type"].(string)
			if first == "" {
				first = kind
			}
			switch kind {
			case "tool_use":
				calls = true
			case "text":
				if strings.TrimSpace(fmt.Sprint(b["text"])) == "" {
					return http.StatusBadRequest, Words("messages: text content blocks must be non-empty")
				}
			case "thinking":
				if _, err := fmt.Sscanf(fmt.Sprint(b["thinking"]), "Hm %d <&>.", &n); err != nil ||
					b["signature"] != fmt.Sprintf("c2ln%d==", n) {
					return http.StatusBadRequest,
						Words(fmt.Sprintf("messages.%d.content.0: Invalid `signature` in `thinking` block", i))
				}
			}
		}
		if asks && m["role"] == "assistant" && calls && first != "thinking" && first != "redacted_thinking" {
			return http.StatusBadRequest, Words(fmt.Sprintf("messages.%d.content.0.type: Expected `thinking` or "+
				"`redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a "+
				"thinking block.", i, first))
		}
	}
	return 0, ""
}

// wantsPrefix refuses a thinking block if anything before it has changed since the model wrote it.
func wantsPrefix(s *Server, a Ask) (int, string) {
	all, _ := a.Body["messages"].([]any)
	before := func(messages []any) int {
		body := maps.Clone(a.Body)
		body["messages"] = messages
		return int(crc32.ChecksumIEEE([]byte(promptOf(Ask{Body: body}).text)))
	}
	for i, one := range all {
		m, _ := one.(object)
		blocks, _ := m["content"].([]any)
		for _, b := range blocks {
			n := 0
			b, _ := b.(object)
			_, err := fmt.Sscanf(fmt.Sprint(b["thinking"]), "Hm %d", &n)
			if err == nil && s.counts[fmt.Sprint("before ", n)] != before(all[:i]) {
				return http.StatusBadRequest, Words(fmt.Sprintf("messages.%d.content.0: Invalid `signature` in `thinking` "+
					"block. The block is bound to a different conversation. Remove the block, or set "+
					"`thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".", i))
			}
		}
	}
	s.counts[fmt.Sprint("before ", len(s.bills)+1)] = before(all)
	return 0, ""
}

// claudeWithout is Claude on an endpoint that refuses a parameter first.
func claudeWithout(name, source, word, message string, c Client) Flavour {
	return claude.with(func(f *Flavour) {
		f.Name, f.Source, f.Client = name, source, c
		f.Protocol = "messages"
		f.Refuse = func(s *Server, a Ask) (int, string) {
			if status, body := refuses(word, message)(s, a); status != 0 {
				return status, body
			}
			return wantsThinking(s, a)
		}
	})
}

var claude = Flavour{Name: "Anthropic: four marks, paid for once",
	Source: "https://github.com/pydantic/pydantic-ai/issues/2075",
	Paths:  []string{Messages}, Refuse: wantsThinking, Opaque: thinking, Marked: true, Client: Client{Speaks: "messages"}}

// Bound returns a flavour that refuses thinking in a conversation that was changed before it.
func Bound() Flavour {
	return claude.with(func(f *Flavour) {
		f.Name, f.Source = "Anthropic: thinking is bound to what precedes it",
			"https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/fix-bound-to-a-different-conversation"
		f.Protocol, f.Reasoning, f.Refuse = "messages", "high", wantsPrefix
	})
}

var anthropic = []Flavour{
	claude,
	claude.with(func(f *Flavour) {
		f.Name, f.Source = "Anthropic: thinking goes back",
			"https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking"
		f.Protocol, f.Reasoning = "messages", "high"
	}),
	claude.with(func(f *Flavour) {
		f.Name, f.Source = "Anthropic: it goes on from another model's calls",
			"https://github.com/anomalyco/opencode/issues/3077"
		f.Protocol, f.Reasoning, f.Foreign, f.Apart = "messages", "high", true, true
	}),
	claude.with(func(f *Flavour) {
		f.Name, f.Source = "Anthropic: thinking that it takes for altered",
			"https://github.com/anthropics/claude-code/issues/19539"
		f.Protocol, f.Reasoning, f.Apart = "messages", "high", true
		f.Refuse = func(s *Server, a Ask) (int, string) {
			for i, m := range messagesOf(a) {
				if m["role"] == "assistant" && strings.Contains(fmt.Sprint(m["content"]), "type:thinking") {
					return http.StatusBadRequest,
						Words(fmt.Sprintf("messages.%d.content.0: `thinking` or `redacted_thinking` blocks in "+
							"the latest assistant message cannot be modified. These blocks must remain as they were in the original "+
							"response.", i))
				}
			}
			return wantsThinking(s, a)
		}
	}),
	Bound(),
	{Name: "Bedrock: a name that is none, in Messages", Source: "https://github.com/docker/docker-agent/pull/3974",
		Paths: []string{Messages}, Refuse: wantsNames, Client: Client{Speaks: "messages", Foreign: true}},
	claudeWithout("Anthropic: a model that does not adapt",
		"https://docs.anthropic.com/en/docs/build-with-claude/adaptive-thinking",
		"adaptive", "adaptive thinking is not supported on this model", Client{Reasoning: "high"}),
	claudeWithout("Anthropic: a model without an effort", "https://docs.anthropic.com/en/docs/build-with-claude/effort",
		`"effort"`, "This model does not support the effort parameter.",
		Client{Reasoning: "high", Weaker: "high is refused"}),
	claudeWithout("Anthropic: a model without thinking",
		"https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking",
		`"thinking":{`, "'thinking' is not supported by this model", Client{Reasoning: "high", Weaker: "does not think"}),
	claudeWithout("Anthropic: a model without schemas",
		"https://docs.anthropic.com/en/docs/build-with-claude/structured-outputs",
		"json_schema", "output_config: Extra inputs are not permitted", Client{}),
	claudeWithout("a gateway without streamed arguments", "https://github.com/DotHarness/dotcraft/pull/282",
		"eager_input_streaming", "tools.0.custom.eager_input_streaming: Extra inputs are not permitted", Client{}),
	claudeWithout("a gateway without cache marks", "https://github.com/BerriAI/litellm/issues/7790",
		"cache_control", "cache_control: Extra inputs are not permitted", Client{Weaker: "cache"}),
	{Name: "Anthropic: overloaded midway", Source: "https://github.com/karthink/gptel/pull/1512",
		Paths: []string{Messages}, Client: Client{Speaks: "messages", Free: true, Apart: true},
		Whole: sometimes(`data: {"type":"message_start","message":{"usage":{"input_tokens":1000}}}` + "\n\n" +
			`data: {"type":"ping"}` + "\n\n" +
			`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Par"}}` + "\n\n" +
			`data: {"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"}}` + "\n\n")},
	{Name: "Anthropic: it calls a tool, and none is there", Source: "https://github.com/earendil-works/pi/issues/9681",
		Paths: []string{Messages}, Client: Client{Speaks: "messages", Free: true, Apart: true},
		Whole: sometimes(`data: {"type":"message_start","message":{"usage":{"input_tokens":1000}}}` + "\n\n" +
			`data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}` + "\n\n" +
			`data: {"type":"message_stop"}` + "\n\n")},
	{Name: "Bedrock: a user's words beside results", Source: "https://github.com/BerriAI/litellm/issues/6053",
		Paths: []string{Messages}, Client: Client{Speaks: "messages"}, Refuse: func(_ *Server, a Ask) (int, string) {
			for i, m := range messagesOf(a) {
				if text := fmt.Sprint(m["content"]); strings.Contains(text, "type:tool_result") &&
					strings.Contains(text, "type:text") {
					return http.StatusBadRequest, fmt.Sprintf(`{"message":"messages.%d.content: Conversation blocks and tool `+
						`result blocks cannot be provided in the same turn."}`, i)
				}
			}
			return 0, ""
		}},
	{Name: "a gateway that ends as chat completions do", Source: "https://docs.anthropic.com/en/api/messages-streaming",
		Paths: []string{Messages}, Client: Client{Speaks: "messages"}},
}

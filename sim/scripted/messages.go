package scripted

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// messages is Anthropic's protocol, POST /v1/messages.
// https://docs.anthropic.com/en/api/messages
var messages = protocol{read: readMessages, whole: wholeMessage, stream: streamMessage,
	authorized: func(r *http.Request, key string) bool {
		return r.Header.Get("X-Api-Key") == key || r.Header.Get("Authorization") == "Bearer "+key
	}}

// block is one part of a message's content.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   blocks          `json:"content,omitempty"`
}

// blocks are content as a list of parts, or as a string, which becomes one text part.
type blocks []block

// UnmarshalJSON accepts both.
func (b *blocks) UnmarshalJSON(in []byte) error {
	var s string
	if json.Unmarshal(in, &s) == nil {
		*b = blocks{{Type: "text", Text: s}}
		return nil
	}
	return json.Unmarshal(in, (*[]block)(b))
}

func (b blocks) text() string {
	var s strings.Builder
	for _, x := range b {
		s.WriteString(x.Text)
	}
	return s.String()
}

// readMessages converts a request to a chat request, so that the same rules match it.
func readMessages(body []byte) (Request, error) {
	var in struct {
		Model     string
		System    blocks
		MaxTokens int `json:"max_tokens"`
		Stream    bool
		Messages  []struct {
			Role    string
			Content blocks
		}
		Tools []struct {
			Name, Description string
			InputSchema       json.RawMessage `json:"input_schema"`
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	q := Request{Model: in.Model, MaxTokens: in.MaxTokens, Stream: in.Stream}
	if s := in.System.text(); s != "" {
		q.Messages = append(q.Messages, Message{Role: "system", Content: s})
	}
	for _, m := range in.Messages {
		out := Message{Role: m.Role}
		for _, c := range m.Content {
			switch c.Type {
			case "tool_use":
				call := ToolCall{ID: c.ID, Type: "function"}
				call.Function.Name, call.Function.Arguments = c.Name, string(c.Input)
				out.ToolCalls = append(out.ToolCalls, call)
			case "tool_result":
				q.Messages = append(q.Messages, Message{Role: "tool", ToolCallID: c.ToolUseID, Content: c.Content.text()})
			default:
				out.Content += c.Text
			}
		}
		if out.Content != "" || len(out.ToolCalls) > 0 {
			q.Messages = append(q.Messages, out)
		}
	}
	for _, t := range in.Tools {
		tool := Tool{Type: "function"}
		tool.Function.Name, tool.Function.Description, tool.Function.Parameters = t.Name, t.Description, t.InputSchema
		q.Tools = append(q.Tools, tool)
	}
	return q, nil
}

// messageOf is the answer with its content and usage in the protocol's format.
func messageOf(q Request, a Answer) (map[string]any, []block, map[string]any, error) {
	m, finish, err := a.message(q.Turn())
	if err != nil {
		return nil, nil, nil, err
	}
	content := []block{}
	if m.Content != "" {
		content = append(content, block{Type: "text", Text: m.Content})
	}
	for _, c := range m.ToolCalls {
		content = append(content, block{Type: "tool_use", ID: strings.Replace(c.ID, "call_", "toolu_", 1),
			Name: c.Function.Name, Input: json.RawMessage(c.Function.Arguments)})
	}
	reason := map[string]string{"tool_calls": "tool_use", "length": "max_tokens"}[finish]
	if reason == "" {
		reason = "end_turn"
	}
	u := usageOf(q, a, m)
	usage := map[string]any{"input_tokens": u.Prompt - u.Details.Cached, "cache_read_input_tokens": u.Details.Cached,
		"cache_creation_input_tokens": 0, "output_tokens": u.Completion}
	return map[string]any{"id": fmt.Sprintf("msg_%d", q.Turn()), "type": "message", "role": "assistant", "model": q.Model,
		"content": content, "stop_reason": reason, "stop_sequence": nil, "usage": usage}, content, usage, nil
}

func wholeMessage(w http.ResponseWriter, q Request, a Answer) {
	m, _, _, err := messageOf(q, a)
	if err != nil {
		fail(w, http.StatusInternalServerError, "script", err.Error())
		return
	}
	send(w, http.StatusOK, m)
}

// streamMessage sends the answer as named events, with the usage in two of them.
func streamMessage(w http.ResponseWriter, q Request, a Answer) {
	m, content, usage, err := messageOf(q, a)
	if err != nil {
		fail(w, http.StatusInternalServerError, "script", err.Error())
		return
	}
	event := events(w)
	reason := m["stop_reason"]
	m["content"], m["stop_reason"] = []any{}, nil
	m["usage"] = map[string]any{"input_tokens": usage["input_tokens"],
		"cache_read_input_tokens": usage["cache_read_input_tokens"], "cache_creation_input_tokens": 0, "output_tokens": 1}
	event("message_start", map[string]any{"message": m})
	for i, c := range content {
		start, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": c.Text}
		if c.Type == "tool_use" {
			start = map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": map[string]any{}}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(c.Input)}
		}
		event("content_block_start", map[string]any{"index": i, "content_block": start})
		event("content_block_delta", map[string]any{"index": i, "delta": delta})
		event("content_block_stop", map[string]any{"index": i})
	}
	event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": reason, "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": usage["output_tokens"]}})
	event("message_stop", map[string]any{})
}

// events sends server-sent events; an event's name is also its type.
func events(w http.ResponseWriter) func(name string, v map[string]any) {
	w.Header().Set("Content-Type", "text/event-stream")
	return func(name string, v map[string]any) {
		v["type"] = name
		b, _ := json.Marshal(v) // values made here can be encoded
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, b)
	}
}

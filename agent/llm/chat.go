package llm

import (
	"encoding/json"

	openai "github.com/sashabaranov/go-openai"
)

// chatRequest is the request of chat completions. Its messages are ours: the library's
// have no place for what other vendors add.
type chatRequest struct {
	openai.ChatCompletionRequest
	Messages []map[string]any `json:"messages"`
}

// encodeChat is req in chat completions, as far as the endpoint accepts it.
func encodeChat(c *Client, req Request, l Learned, most int) ([]byte, error) {
	var out chatRequest
	out.Model = c.cfg.Model
	if l.wants(formMaxTokens) {
		out.MaxTokens = most //nolint:staticcheck // deprecated by OpenAI, and all that some servers know
	} else {
		out.MaxCompletionTokens = most
	}
	if out.Stream = !l.wants(formNoStream); out.Stream && l.takes("stream_options") {
		out.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	out.ReasoningEffort = l.effort(c.cfg.Reasoning)
	if s := req.Schema; s != nil {
		switch l.Schema {
		case modeSchema:
			out.ResponseFormat = &openai.ChatCompletionResponseFormat{
				Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
				JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: s.Name, Schema: s.JSON, Strict: s.Strict},
			}
		case modeObject:
			out.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
		}
	}
	ids, names := wireIDs(req.Messages, c.maker(ProtocolChat), l), toolNames(req.Messages)
	for _, m := range arranged(req.inWords(l), l) {
		one := c.chatMessage(m, l, ids)
		if m.Role == RoleTool && l.wants(formToolNames) {
			one["name"] = names[m.ToolCallID]
		}
		out.Messages = append(out.Messages, one)
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: t.parameters(l),
		}})
	}
	if l.takes("cache_control") && (l.wants(formCacheMarks) || marksByAddress(c.cfg.BaseURL)) {
		markChat(out.Messages)
	}
	return json.Marshal(out)
}

// chatMessage is one message on the wire.
func (c *Client) chatMessage(m Message, l Learned, ids func(string) string) map[string]any {
	content := validText(m.Content)
	out := map[string]any{"role": m.Role}
	if m.Role == RoleTool {
		out["tool_call_id"] = ids(m.ToolCallID)
	}
	var calls []map[string]any
	for _, call := range m.ToolCalls {
		var args any = validArguments(call.Arguments)
		if l.wants(formObjects) {
			args = json.RawMessage(validArguments(call.Arguments))
		}
		calls = append(calls, map[string]any{"id": ids(call.ID), "type": "function",
			"function": map[string]any{"name": wireName(call.Name), "arguments": args}})
	}
	parts := m.Opaque.of(c.maker(ProtocolChat))
	for _, p := range parts {
		if p.Name == opaqueThink {
			content = unquoted(p.Raw) + content
		}
	}
	switch {
	case content == "" && len(calls) == 0:
		out["content"] = emptyText // endpoints refuse an empty one
	case content == "" && l.wants(formSomeContent):
		out["content"] = emptyText
	case content == "" && !l.wants(formEmptyContent):
		out["content"] = nil
	default:
		out["content"] = content
	}
	for _, p := range parts {
		switch {
		case p.Name == opaqueThink || !l.takes(p.Name):
		case p.At > 0 && p.At <= len(calls):
			calls[p.At-1][p.Name] = json.RawMessage(p.Raw)
		case p.Name == opaqueContent:
			blocks := []any{json.RawMessage(p.Raw)}
			if content != "" {
				blocks = append(blocks, map[string]any{"type": "text", "text": content})
			}
			out["content"] = blocks
		case p.At == 0:
			out[p.Name] = json.RawMessage(p.Raw)
		}
	}
	if m.Role == RoleAssistant {
		l.standIn(out, calls)
	}
	if len(calls) > 0 {
		out["tool_calls"] = calls
	}
	return out
}

// standIn adds what an endpoint wants of every answer and what one of another model does
// not have.
//
// DeepSeek wants reasoning_content of each answer, and an empty one is one
// (https://github.com/anomalyco/opencode/issues/24722). Gemini wants the signature of the
// first call of each answer, and documents a value that stands for none
// (https://ai.google.dev/gemini-api/docs/thought-signatures).
func (l Learned) standIn(m map[string]any, calls []map[string]any) {
	if _, has := m["reasoning_content"]; l.wants(formReasoning) && !has {
		m["reasoning_content"] = ""
	}
	if l.wants(formSignature) && len(calls) > 0 {
		if _, has := calls[0]["extra_content"]; !has {
			calls[0]["extra_content"] = map[string]any{"google": map[string]any{
				"thought_signature": "skip_thought_signature_validator"}}
		}
	}
}

// toolNames are the names of a conversation's calls, by their ids.
func toolNames(messages []Message) map[string]string {
	names := map[string]string{}
	for _, m := range messages {
		for _, c := range m.ToolCalls {
			names[c.ID] = wireName(c.Name)
		}
	}
	return names
}

// validArguments is arguments that an endpoint takes back: some refuse a conversation that
// holds what their own model wrote, and templates fail over what is no object.
func validArguments(args string) string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &object) != nil || object == nil {
		return "{}"
	}
	return args
}

package llm

import (
	"encoding/json"

	openai "github.com/sashabaranov/go-openai"
)

// chatRequest is a request of chat completions. It has its own messages, since the library's lack the fields of other
// vendors.
type chatRequest struct {
	openai.ChatCompletionRequest
	Messages []map[string]any `json:"messages"`
}

// encodeChat encodes req for chat completions, without what the endpoint refuses.
func encodeChat(c *Client, req Request, l Learned, limit int) ([]byte, error) {
	var out chatRequest
	out.Model = c.cfg.Model
	if l.uses(formNewMaxTokens) {
		out.MaxCompletionTokens = limit
	} else {
		out.MaxTokens = limit //nolint:staticcheck // deprecated by OpenAI, and all that some servers know
	}
	if out.Stream = !l.uses(formNoStream); out.Stream && l.accepts("stream_options") {
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
	for _, m := range arrange(req.withSchemaPrompt(l), l) {
		one := c.chatMessage(m, l, ids)
		if m.Role == RoleTool && l.uses(formToolNames) {
			one["name"] = names[m.ToolCallID]
		}
		out.Messages = append(out.Messages, one)
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: t.parameters(l),
		}})
	}
	if l.accepts("cache_control") && (l.uses(formCacheMarks) || marksByAddress(c.cfg.BaseURL)) {
		markChat(out.Messages)
	}
	return json.Marshal(out)
}

// chatMessage encodes one message.
func (c *Client) chatMessage(m Message, l Learned, ids func(string) string) map[string]any {
	content := validText(m.Content)
	out := map[string]any{"role": m.Role}
	if m.Role == RoleTool {
		out["tool_call_id"] = ids(m.ToolCallID)
	}
	var calls []map[string]any
	for _, call := range m.ToolCalls {
		var args any = validArguments(call.Arguments)
		if l.uses(formObjects) {
			args = json.RawMessage(validArguments(call.Arguments))
		}
		calls = append(calls, map[string]any{"id": ids(call.ID), "type": "function",
			"function": map[string]any{"name": wireName(call.Name), "arguments": args}})
	}
	parts := m.Opaque.of(c.maker(ProtocolChat))
	for _, p := range parts {
		switch {
		case p.Name == opaqueThink:
			content = unquote(p.Raw) + content
		case p.At == 0 && len(calls) > 0 && l.uses(formTextOrThought):
			content = ""
		}
	}
	switch {
	case content == "" && len(calls) == 0:
		out["content"] = emptyText // endpoints refuse empty content
	case content == "" && l.uses(formSomeContent):
		out["content"] = emptyText
	case content == "" && !l.uses(formEmptyContent):
		out["content"] = nil
	default:
		out["content"] = content
	}
	for _, p := range parts {
		switch {
		case p.Name == opaqueThink || !l.accepts(p.Name):
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
		l.addPlaceholders(out, calls)
	}
	if len(calls) > 0 {
		out["tool_calls"] = calls
	}
	return out
}

// addPlaceholders adds fields that an endpoint requires in every answer and that other models' answers lack.
//
// DeepSeek requires reasoning_content and accepts an empty one (https://github.com/anomalyco/opencode/issues/24722).
// Gemini requires the signature of the first call of each answer, and documents a placeholder
// (https://ai.google.dev/gemini-api/docs/thought-signatures).
func (l Learned) addPlaceholders(m map[string]any, calls []map[string]any) {
	if _, has := m["reasoning_content"]; l.uses(formReasoning) && !has {
		m["reasoning_content"] = ""
	}
	if l.uses(formSignature) && len(calls) > 0 {
		if _, has := calls[0]["extra_content"]; !has {
			calls[0]["extra_content"] = map[string]any{"google": map[string]any{
				"thought_signature": "skip_thought_signature_validator"}}
		}
	}
}

// toolNames returns the tool names of a conversation's calls, by ID.
func toolNames(messages []Message) map[string]string {
	names := map[string]string{}
	for _, m := range messages {
		for _, c := range m.ToolCalls {
			names[c.ID] = wireName(c.Name)
		}
	}
	return names
}

// validArguments returns arguments that an endpoint accepts: some refuse invalid ones even from their own model, and
// chat templates fail unless they are an object.
func validArguments(args string) string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &object) != nil || object == nil {
		return "{}"
	}
	return args
}

package scripted

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// responses is OpenAI's newer protocol, POST /v1/responses.
// https://platform.openai.com/docs/api-reference/responses
var responses = protocol{read: readResponses, whole: wholeResponse, stream: streamResponse, authorized: bearer}

// item is one entry of a conversation: a message, a call, or a call's result.
type item struct {
	Type      string `json:"type"`
	Role      string `json:"role"`
	Content   blocks `json:"content"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Input     string `json:"input"`  // of a call with a plain text argument
	Output    blocks `json:"output"` // of a result
}

// readResponses converts a request to a chat request, so that the same rules match it.
func readResponses(body []byte) (Request, error) {
	var in struct {
		Model        string
		Instructions string
		MaxTokens    int `json:"max_output_tokens"`
		Stream       bool
		Input        json.RawMessage
		Tools        []struct {
			Type, Name, Description string
			Parameters              json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	q := Request{Model: in.Model, MaxTokens: in.MaxTokens, Stream: in.Stream}
	if in.Instructions != "" {
		q.Messages = append(q.Messages, Message{Role: "system", Content: in.Instructions})
	}
	var text string
	var items []item
	if json.Unmarshal(in.Input, &text) == nil {
		items = []item{{Role: "user", Content: blocks{{Text: text}}}}
	} else if err := json.Unmarshal(in.Input, &items); err != nil {
		return Request{}, err
	}
	for _, i := range items {
		switch i.Type {
		case "", "message":
			q.Messages = append(q.Messages, Message{Role: i.Role, Content: i.Content.text()})
		case "function_call", "custom_tool_call":
			call := ToolCall{ID: i.CallID, Type: "function"}
			call.Function.Name, call.Function.Arguments = i.Name, i.Arguments+i.Input
			q.Messages = append(q.Messages, Message{Role: "assistant", ToolCalls: []ToolCall{call}})
		case "function_call_output", "custom_tool_call_output":
			q.Messages = append(q.Messages, Message{Role: "tool", ToolCallID: i.CallID, Content: i.Output.text()})
		}
	}
	q.Messages = joined(q.Messages)
	for _, t := range in.Tools {
		tool := Tool{Type: t.Type}
		tool.Function.Name, tool.Function.Description, tool.Function.Parameters = t.Name, t.Description, t.Parameters
		q.Tools = append(q.Tools, tool)
	}
	return q, nil
}

// joined merges an answer's items into one message, as in the other protocols: a rule counts answers.
func joined(in []Message) (out []Message) {
	for _, m := range in {
		if n := len(out); n > 0 && m.Role == "assistant" && out[n-1].Role == "assistant" {
			out[n-1].Content += m.Content
			out[n-1].ToolCalls = append(out[n-1].ToolCalls, m.ToolCalls...)
			continue
		}
		out = append(out, m)
	}
	return out
}

// responseOf is the answer in the protocol's format.
func responseOf(q Request, a Answer) (map[string]any, []map[string]any, error) {
	m, finish, err := a.message(q.Turn())
	if err != nil {
		return nil, nil, err
	}
	output := []map[string]any{}
	if m.Content != "" {
		output = append(output, map[string]any{"type": "message", "id": fmt.Sprintf("msg_%d", q.Turn()),
			"status": "completed", "role": "assistant",
			"content": []any{map[string]any{"type": "output_text", "text": m.Content, "annotations": []any{}}}})
	}
	for i, c := range m.ToolCalls {
		call := map[string]any{"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", q.Turn(), i), "status": "completed",
			"call_id": c.ID, "name": c.Function.Name, "arguments": c.Function.Arguments}
		if custom(q, c.Function.Name) {
			call["type"], call["input"] = "custom_tool_call", c.Function.Arguments
			delete(call, "arguments")
		}
		output = append(output, call)
	}
	status := "completed"
	if finish == "length" {
		status = "incomplete"
	}
	u := usageOf(q, a, m)
	return map[string]any{"id": fmt.Sprintf("resp_%d", q.Turn()), "object": "response", "created_at": created,
		"status": status, "model": q.Model, "output": output,
		"usage": map[string]any{"input_tokens": u.Prompt,
			"input_tokens_details": map[string]any{"cached_tokens": u.Details.Cached},
			"output_tokens":        u.Completion, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
			"total_tokens": u.Total}}, output, nil
}

// custom reports whether a tool takes plain text instead of JSON.
func custom(q Request, name string) bool {
	for _, t := range q.Tools {
		if t.Function.Name == name {
			return t.Type == "custom"
		}
	}
	return false
}

func wholeResponse(w http.ResponseWriter, q Request, a Answer) {
	r, _, err := responseOf(q, a)
	if err != nil {
		fail(w, http.StatusInternalServerError, "script", err.Error())
		return
	}
	send(w, http.StatusOK, r)
}

// streamResponse sends the answer as named events; the last contains all of it.
func streamResponse(w http.ResponseWriter, q Request, a Answer) {
	r, output, err := responseOf(q, a)
	if err != nil {
		fail(w, http.StatusInternalServerError, "script", err.Error())
		return
	}
	event := events(w)
	event("response.created", map[string]any{"response": map[string]any{"id": r["id"], "object": "response",
		"created_at": created, "status": "in_progress", "model": q.Model, "output": []any{}}})
	for i, o := range output {
		event("response.output_item.added", map[string]any{"output_index": i, "item": o})
		if c, ok := o["content"].([]any); ok {
			text := c[0].(map[string]any)["text"]
			event("response.output_text.delta",
				map[string]any{"item_id": o["id"], "output_index": i, "content_index": 0, "delta": text})
			event("response.output_text.done",
				map[string]any{"item_id": o["id"], "output_index": i, "content_index": 0, "text": text})
		}
		event("response.output_item.done", map[string]any{"output_index": i, "item": o})
	}
	event("response."+r["status"].(string), map[string]any{"response": r})
}

package flavour

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
)

// Events sends server-sent events.
func Events(w http.ResponseWriter, named bool, events ...map[string]any) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		b, _ := json.Marshal(e)
		if named {
			fmt.Fprintf(w, "event: %s\n", e["type"])
		}
		fmt.Fprintf(w, "data: %s\n\n", b)
	}
}

func send(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// chat writes the nth answer in chat completions.
func (s *Server) chat(w http.ResponseWriter, n int, t Turn, b Bill, stream bool) {
	m := object{"role": "assistant", "content": t.Text}
	var opaque object
	if s.Opaque != nil {
		opaque, _ = s.Opaque(n).(object)
	}
	if fields, ok := opaque["message"].(object); ok {
		maps.Copy(m, fields)
	}
	var calls []any
	for i, c := range t.Calls {
		call := object{"index": i, "id": fmt.Sprintf("call_%d_%d", n, i), "type": "function",
			"function": object{"name": c.Name, "arguments": c.Arguments}}
		if fields, ok := opaque["call"].(object); ok && i == 0 {
			maps.Copy(call, fields)
		}
		calls = append(calls, call)
	}
	finish := "stop"
	if calls != nil {
		m["tool_calls"], finish = calls, "tool_calls"
	}
	if s.Message != nil {
		if f := s.Message(m); f != "" {
			finish = f
		}
	}
	usage := object{"prompt_tokens": b.Input, "completion_tokens": b.Output, "total_tokens": b.Input + b.Output,
		"prompt_tokens_details": object{"cached_tokens": b.Cached, "cache_write_tokens": b.Written}}
	if s.Usage != nil {
		usage = s.Usage(b)
	}
	if !stream {
		whole := object{"choices": s.choices("message", m, finish), "usage": usage}
		maps.Copy(whole, s.Extra)
		send(w, whole)
		return
	}
	deltas := []object{m}
	if s.Deltas != nil {
		deltas = s.Deltas(m)
	}
	var events []object
	for _, d := range deltas {
		choices := s.choices("delta", d, nil)
		if s.SoFar {
			choices[0].(object)["message"] = m
		}
		events = append(events, object{"choices": choices})
	}
	end := object{"index": 0, "delta": object{}, "finish_reason": finish}
	if inChoice, is := usage["choice"]; is {
		end["usage"] = inChoice
	}
	events = append(events, object{"choices": []any{end}})
	if len(usage) > 0 && usage["choice"] == nil {
		events = append(events, object{"choices": []any{}, "usage": usage})
	}
	for _, e := range events {
		maps.Copy(e, s.Extra)
	}
	Events(w, false, events...)
	if !s.NoDone {
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

// choices are the choices of an answer or a chunk; in is the field of a message.
func (s *Server) choices(in string, m object, finish any) []any {
	list := []any{object{"index": 0, in: m, "finish_reason": finish}}
	calls, _ := m["tool_calls"].([]any)
	if !s.Choices || calls == nil {
		return list
	}
	delete(m, "tool_calls")
	for i, call := range calls {
		list = append(list, object{"index": i + 1, in: object{"tool_calls": []any{call}}, "finish_reason": finish})
	}
	return list
}

// responses writes the nth answer in Responses. Opaque items come first.
func (s *Server) responses(w http.ResponseWriter, n int, t Turn, b Bill, stream bool) {
	var items []any
	if s.Opaque != nil {
		items, _ = s.Opaque(n).([]any)
	}
	if t.Text != "" {
		message := object{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
			"content": []any{object{"type": "output_text", "text": t.Text}}}
		if s.Phases {
			if message["phase"] = "final_answer"; t.Calls != nil {
				message["phase"] = "commentary"
			}
		}
		items = append(items, message)
	}
	for i, c := range t.Calls {
		items = append(items, object{"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", n, i), "status": "completed",
			"call_id": fmt.Sprintf("call_%d_%d", n, i), "name": c.Name, "arguments": c.Arguments})
	}
	whole := object{"id": "resp_1", "object": "response", "status": "completed", "output": items, "usage": object{
		"input_tokens": b.Input, "input_tokens_details": object{"cached_tokens": b.Cached}, "output_tokens": b.Output}}
	if !stream {
		send(w, whole)
		return
	}
	var events []map[string]any
	for i, item := range items {
		events = append(events, object{"type": "response.output_item.added", "output_index": i, "item": item},
			object{"type": "response.output_item.done", "output_index": i, "item": item})
	}
	events = append(events, object{"type": "response.completed", "response": whole})
	if s.Events != nil {
		events = s.Events(events)
	}
	Events(w, true, events...)
}

// messages writes the nth answer in Messages. Opaque blocks come first.
func (s *Server) messages(w http.ResponseWriter, n int, t Turn, b Bill, stream bool) {
	var blocks []any
	if s.Opaque != nil {
		blocks, _ = s.Opaque(n).([]any)
	}
	if t.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": t.Text})
	}
	reason := "end_turn"
	for i, c := range t.Calls {
		blocks = append(blocks, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", n, i), "name": c.Name,
			"input": json.RawMessage(c.Arguments)})
		reason = "tool_use"
	}
	usage := object{"input_tokens": b.Input - b.Cached - b.Written, "cache_read_input_tokens": b.Cached,
		"cache_creation_input_tokens": b.Written, "output_tokens": b.Output}
	if !stream {
		send(w, object{"type": "message", "role": "assistant", "content": blocks, "stop_reason": reason, "usage": usage})
		return
	}
	events := []map[string]any{{"type": "message_start", "message": object{"usage": usage}}}
	for i, one := range blocks {
		block := one.(object)
		start, deltas := object{"type": block["type"]}, []object{}
		switch block["type"] {
		case "text":
			start["text"] = ""
			deltas = append(deltas, object{"type": "text_delta", "text": block["text"]})
		case "tool_use":
			start["id"], start["name"], start["input"] = block["id"], block["name"], object{}
			deltas = append(deltas, object{"type": "input_json_delta",
				"partial_json": string(block["input"].(json.RawMessage))})
		case "thinking":
			start["thinking"], start["signature"] = "", ""
			deltas = append(deltas, object{"type": "thinking_delta", "thinking": block["thinking"]},
				object{"type": "signature_delta", "signature": block["signature"]})
		default:
			start = block
		}
		events = append(events, object{"type": "content_block_start", "index": i, "content_block": start})
		for _, d := range deltas {
			events = append(events, object{"type": "content_block_delta", "index": i, "delta": d})
		}
		events = append(events, object{"type": "content_block_stop", "index": i})
	}
	Events(w, true, append(events, object{"type": "message_delta", "delta": object{"stop_reason": reason},
		"usage": object{"output_tokens": b.Output}}, object{"type": "message_stop"})...)
}

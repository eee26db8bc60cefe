package scripted

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// argPiece is how many bytes of a call's arguments are in one chunk.
const argPiece = 24

// stream sends the answer as server-sent events, as OpenAI does: a chunk with the role, then the text word by word,
// each call first with its name and then its arguments in pieces, the finish reason, and, if requested, a chunk with
// the usage and no choices. Each chunk is flushed. A fault occurs after its number of chunks; cut reports that the
// connection is to be closed.
func (s *Server) stream(ctx context.Context, w http.ResponseWriter, q Request, a Answer, f *Fault) (cut bool) {
	m, finish, err := a.message(q.Turn())
	if err != nil {
		fail(w, http.StatusInternalServerError, "script", err.Error())
		return false
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	out := http.NewResponseController(w)
	event := func(text string) {
		fmt.Fprintf(w, "data: %s\n\n", text)
		_ = out.Flush() // the client is gone
	}
	chunks := chunks(q, a, m, finish)
	for i, c := range chunks {
		if f != nil && i == min(f.After, len(chunks)-1) {
			switch {
			case f.Reset:
				return true
			case f.Stall:
				s.stall(ctx)
				return true
			}
			b, _ := json.Marshal(map[string]any{"error": map[string]any{"message": "a fault of the script",
				"type": "server_error", "code": f.Code}})
			event(string(b))
			return false
		}
		b, _ := json.Marshal(c)
		event(string(b))
	}
	event("[DONE]")
	return false
}

// chunks is the answer as a list of stream chunks.
func chunks(q Request, a Answer, m Message, finish string) (list []map[string]any) {
	counts := q.StreamOptions != nil && q.StreamOptions.IncludeUsage
	add := func(choices []any, used any) {
		c := map[string]any{"id": id(q), "object": "chat.completion.chunk", "created": created, "model": q.Model,
			"choices": choices}
		if counts {
			c["usage"] = used // null in all but the last
		}
		list = append(list, c)
	}
	delta := func(d map[string]any, finish any) {
		add([]any{map[string]any{"index": 0, "delta": d, "finish_reason": finish}}, nil)
	}
	delta(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, word := range strings.SplitAfter(m.Content, " ") {
		if word != "" {
			delta(map[string]any{"content": word}, nil)
		}
	}
	for i, c := range m.ToolCalls {
		delta(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": c.ID, "type": c.Type, "function": map[string]any{"name": c.Function.Name, "arguments": ""}}}}, nil)
		for _, piece := range pieces(c.Function.Arguments) {
			delta(map[string]any{"tool_calls": []any{map[string]any{"index": i,
				"function": map[string]any{"arguments": piece}}}}, nil)
		}
	}
	delta(map[string]any{}, finish)
	if counts {
		add([]any{}, usageOf(q, a, m))
	}
	return list
}

// pieces splits text between characters.
func pieces(text string) (list []string) {
	from := 0
	for i := range text {
		if i-from >= argPiece {
			list = append(list, text[from:i])
			from = i
		}
	}
	if from < len(text) {
		list = append(list, text[from:])
	}
	return list
}

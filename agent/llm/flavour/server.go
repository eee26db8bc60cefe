// Package flavour is servers that answer as real ones do: with the state that they keep,
// the forms that they send and the words in which they refuse. Each has the public source
// that it is made after. Tests put them in a model's place.
//
// Concepts:
//
//   - [Server]: a model behind HTTP in one dialect or several. It makes two tool calls, or as
//     many turns as it is told, and then says that it is done.
//   - [Flavour]: what is particular about one server, as data and small functions.
//   - [Bill]: what the server counted, cached prefixes included: real servers bill what is
//     not cached.
//
// It imports nothing of ours. Start reading at flavours.go.
package flavour

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// The paths of the dialects.
const (
	Chat      = "/v1/chat/completions"
	Responses = "/v1/responses"
	Messages  = "/v1/messages"
)

// Turn is what the model says at one turn of a conversation.
type Turn struct {
	Text  string
	Calls []Call
}

// Call is a tool call, with arguments as JSON.
type Call struct{ Name, Arguments string }

// Ask is one request as a flavour sees it.
type Ask struct {
	Path   string
	Header http.Header
	Body   map[string]any
	Raw    string
	Turn   int // answers of the model that the request carries
}

// Flavour is what is particular about a server.
type Flavour struct {
	Name   string
	Source string // where it can be read that a server does so

	Paths []string // that there are; the first is the dialect in which it is at home
	// Refuse looks at a request with what the server remembers; a status of 0 lets it through.
	Refuse func(s *Server, a Ask) (status int, body string)
	// Reply writes an answer in a form of its own; false: the usual one.
	Reply func(s *Server, w http.ResponseWriter, a Ask, t Turn) bool
	// Opaque is what the answer of a turn holds for the model alone, in the dialect's form:
	// a field of the message, of a call, an item or a block. nil: nothing.
	Opaque func(turn int) any
	// Marked says that only what has cache marks is cached; Uncached that nothing is.
	Marked, Uncached bool
	// Turns is what the model says, by how many answers the request carries; nil: two calls of
	// read, and then "Done.".
	Turns []Turn
	// Next is what it says next, whatever the request carries; nil: Turns say it.
	Next func() Turn
}

// Bill is what a server counted.
type Bill struct{ Requests, Input, Cached, Written, Output int }

// Server is a running server of a flavour. Its methods are safe for concurrent use.
type Server struct {
	Flavour
	URL string // ends in /v1

	http *httptest.Server

	mu    sync.Mutex
	bill  Bill
	bills []Bill   // of each answer
	asks  []Ask    // all requests
	seen  []string // prompts that are in the cache
	Count map[string]int
}

// Start serves a flavour until Close.
func Start(f Flavour) *Server {
	if f.Turns == nil {
		f.Turns = []Turn{{Text: "I look.", Calls: []Call{{"read", `{"path":"main.go"}`}}},
			{Calls: []Call{{"read", `{"path":"go.mod"}`}}}, {Text: "Done."}}
	}
	s := &Server{Flavour: f, Count: map[string]int{}}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL + "/v1"
	return s
}

// Close ends the server.
func (s *Server) Close() { s.http.CloseClientConnections(); s.http.Close() }

// Bill is what was counted so far, and what of each answer.
func (s *Server) Bill() (sum Bill, each []Bill) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bill, append([]Bill(nil), s.bills...)
}

// Asks are the requests so far.
func (s *Server) Asks() []Ask {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Ask(nil), s.asks...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	a := Ask{Path: r.URL.Path, Header: r.Header, Raw: string(raw)}
	there := false
	for _, p := range s.Paths {
		there = there || p == a.Path
	}
	if !there {
		refuse(w, http.StatusNotFound, `{"detail":"Not Found"}`)
		return
	}
	if err := json.Unmarshal(raw, &a.Body); err != nil {
		refuse(w, http.StatusBadRequest, `{"error":{"message":"not JSON"}}`)
		return
	}
	a.Turn = turnOf(a)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks = append(s.asks, a)
	if s.Refuse != nil {
		if status, body := s.Refuse(s, a); status != 0 {
			refuse(w, status, body)
			return
		}
	}
	t := s.Turns[min(a.Turn, len(s.Turns)-1)]
	if s.Next != nil {
		t = s.Next()
	}
	if s.Reply != nil && s.Reply(s, w, a, t) {
		return
	}
	s.Usual(w, a, t)
}

// Usual answers in the usual form of the dialect.
func (s *Server) Usual(w http.ResponseWriter, a Ask, t Turn) {
	b := s.count(a, t)
	stream, _ := a.Body["stream"].(bool)
	switch a.Path {
	case Chat:
		s.chat(w, a, t, b, stream)
	case Responses:
		s.responses(w, a, t, b, stream)
	default:
		s.messages(w, a, t, b, stream)
	}
}

func refuse(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprint(w, body)
}

// Say is an error of the usual form.
func Say(message string) string {
	b, _ := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error"}})
	return string(b)
}

// turnOf counts the answers in a conversation: in Responses, items that follow one another
// are one.
func turnOf(a Ask) (n int) {
	list, _ := a.Body["messages"].([]any)
	if a.Path == Responses {
		list, _ = a.Body["input"].([]any)
	}
	before := false
	for _, one := range list {
		m, _ := one.(map[string]any)
		kind, _ := m["type"].(string)
		is := m["role"] == "assistant" || kind == "function_call" || kind == "reasoning"
		if is && (!before || a.Path != Responses) {
			n++
		}
		before = is
	}
	return n
}

// count bills an answer: four bytes a token, and the longest prefix that an earlier prompt
// shares in steps of 64 tokens, as servers cache in blocks.
func (s *Server) count(a Ask, t Turn) Bill {
	prompt, marked := promptOf(a)
	b := Bill{Requests: 1, Input: (len(prompt) + 3) / 4}
	for _, c := range t.Calls {
		b.Output += (len(c.Name)+len(c.Arguments))/4 + 8
	}
	b.Output += len(t.Text)/4 + 4
	const block = 4 * 64
	most := len(prompt)
	if s.Marked {
		most = marked
	}
	if !s.Uncached && most > 0 {
		for _, earlier := range s.seen {
			n := 0
			for n < len(earlier) && n < most && earlier[n] == prompt[n] {
				n++
			}
			b.Cached = max(b.Cached, n/block*block/4)
		}
		if s.Marked {
			b.Written = max(0, most/4-b.Cached)
		}
		s.seen = append(s.seen, prompt[:most])
	}
	s.bill = Bill{s.bill.Requests + 1, s.bill.Input + b.Input, s.bill.Cached + b.Cached, s.bill.Written + b.Written,
		s.bill.Output + b.Output}
	s.bills = append(s.bills, b)
	return b
}

// promptOf is what the model reads: tools, system, messages, without the marks; marked is
// up to where a mark stands.
func promptOf(a Ask) (prompt string, marked int) {
	var b strings.Builder
	for _, name := range []string{"tools", "instructions", "system", "messages", "input"} {
		list, ok := a.Body[name].([]any)
		if !ok {
			if v, there := a.Body[name]; there {
				list = []any{v}
			}
		}
		for _, v := range list {
			has := hasMark(v)
			text, _ := json.Marshal(unmarked(v))
			b.Write(text)
			if has {
				marked = b.Len()
			}
		}
	}
	return b.String(), marked
}

func hasMark(v any) bool { return Marks(v) > 0 }

// Marks counts the cache marks in a value.
func Marks(v any) (n int) {
	switch x := v.(type) {
	case map[string]any:
		for k, in := range x {
			if k == "cache_control" {
				n++
			}
			n += Marks(in)
		}
	case []any:
		for _, in := range x {
			n += Marks(in)
		}
	}
	return n
}

// unmarked is v without marks, and a text in a list of one as a text.
func unmarked(v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, in := range x {
			if k != "cache_control" {
				out[k] = unmarked(in)
			}
		}
		return out
	case []any:
		if len(x) == 1 {
			if m, ok := x[0].(map[string]any); ok && m["type"] == "text" {
				return m["text"]
			}
		}
		out := make([]any, len(x))
		for i, in := range x {
			out[i] = unmarked(in)
		}
		return out
	}
	return v
}

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

type object = map[string]any

// chat answers in chat completions. Opaque is {"message": fields, "call": fields}.
func (s *Server) chat(w http.ResponseWriter, a Ask, t Turn, b Bill, stream bool) {
	m := object{"role": "assistant", "content": t.Text}
	var opaque object
	if s.Opaque != nil {
		opaque, _ = s.Opaque(a.Turn).(object)
	}
	if fields, ok := opaque["message"].(object); ok {
		for k, v := range fields {
			m[k] = v
		}
	}
	var calls []any
	for i, c := range t.Calls {
		call := object{"index": i, "id": fmt.Sprintf("call_%d_%d", a.Turn, i), "type": "function",
			"function": object{"name": c.Name, "arguments": c.Arguments}}
		if fields, ok := opaque["call"].(object); ok && i == 0 {
			for k, v := range fields {
				call[k] = v
			}
		}
		calls = append(calls, call)
	}
	finish := "stop"
	if calls != nil {
		m["tool_calls"], finish = calls, "tool_calls"
	}
	usage := object{"prompt_tokens": b.Input, "completion_tokens": b.Output, "total_tokens": b.Input + b.Output,
		"prompt_tokens_details": object{"cached_tokens": b.Cached, "cache_write_tokens": b.Written}}
	if !stream {
		send(w, object{"choices": []any{object{"index": 0, "message": m, "finish_reason": finish}}, "usage": usage})
		return
	}
	Events(w, false, object{"choices": []any{object{"index": 0, "delta": m, "finish_reason": nil}}},
		object{"choices": []any{object{"index": 0, "delta": object{}, "finish_reason": finish}}},
		object{"choices": []any{}, "usage": usage})
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// responses answers in Responses. Opaque is an item that stands before the others.
func (s *Server) responses(w http.ResponseWriter, a Ask, t Turn, b Bill, stream bool) {
	var items []any
	if s.Opaque != nil {
		if item := s.Opaque(a.Turn); item != nil {
			items = append(items, item)
		}
	}
	if t.Text != "" {
		items = append(items, object{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
			"content": []any{object{"type": "output_text", "text": t.Text}}})
	}
	for i, c := range t.Calls {
		items = append(items, object{"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", a.Turn, i), "status": "completed",
			"call_id": fmt.Sprintf("call_%d_%d", a.Turn, i), "name": c.Name, "arguments": c.Arguments})
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
	Events(w, true, append(events, object{"type": "response.completed", "response": whole})...)
}

// messages answers in Messages. Opaque is a list of blocks that stand before the others.
func (s *Server) messages(w http.ResponseWriter, a Ask, t Turn, b Bill, stream bool) {
	var blocks []any
	if s.Opaque != nil {
		blocks, _ = s.Opaque(a.Turn).([]any)
	}
	if t.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": t.Text})
	}
	reason := "end_turn"
	for i, c := range t.Calls {
		blocks = append(blocks, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", a.Turn, i), "name": c.Name,
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

package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// encodeResponses is req in the dialect of Responses. Nothing is kept at the endpoint: the
// reasoning comes back to us encrypted, and goes there again with the next request
// (https://developers.openai.com/api/docs/guides/reasoning#encrypted-reasoning-items).
func encodeResponses(c *Client, req Request, l Learned, most int) ([]byte, error) {
	store := false
	out := openai.CreateResponseRequest{Model: c.cfg.Model, Stream: !l.wants(formNoStream)}
	if l.takes("max_output_tokens") {
		out.MaxOutputTokens = most
	}
	if l.takes("store") {
		out.Store = &store
	}
	if l.takes("include") {
		out.Include = []openai.ResponseInclude{"reasoning.encrypted_content"}
	}
	if l.takes("prompt_cache_key") {
		out.PromptCacheKey = conversationKey(req)
	}
	if c.cfg.Reasoning != "" && l.takes("effort") {
		out.Reasoning = &openai.ResponseReasoning{Effort: c.cfg.Reasoning}
	}
	maker := c.maker(ProtocolResponses)
	ids := wireIDs(req.Messages, maker, l)
	input := []any{}
	for i, m := range req.inWords(l) {
		if i == 0 && m.Role == RoleSystem {
			out.Instructions = validText(m.Content)
			continue
		}
		input = append(input, responsesItems(m, maker, ids, l)...)
	}
	out.Input = input
	out.ExtraBody = map[string]any{}
	if len(req.Tools) > 0 {
		var tools []any
		for _, t := range req.Tools {
			tool := map[string]any{"type": "function", "name": t.Name, "description": t.Description,
				"parameters": t.parameters(l)}
			if l.takes("strict") {
				tool["strict"] = false // it is true where nothing is said
			}
			tools = append(tools, tool)
		}
		out.ExtraBody["tools"] = tools
	}
	if s := req.Schema; s != nil {
		switch l.Schema {
		case modeSchema:
			out.ExtraBody["text"] = map[string]any{"format": map[string]any{"type": "json_schema", "name": s.Name,
				"schema": s.JSON, "strict": s.Strict}}
		case modeObject:
			out.ExtraBody["text"] = map[string]any{"format": map[string]any{"type": "json_object"}}
		}
	}
	return json.Marshal(out)
}

// conversationKey brings the requests of a conversation to the same cache
// (https://developers.openai.com/api/docs/guides/prompt-caching). It is made of how the
// conversation begins, without what is added there when it is condensed.
func conversationKey(req Request) string {
	const begins = 1024 // bytes of a message
	h := sha256.New()
	for _, m := range req.Messages[:min(2, len(req.Messages))] {
		h.Write([]byte(m.Role + "\x00" + m.Content[:min(begins, len(m.Content))] + "\x00"))
	}
	return "sia-" + hex.EncodeToString(h.Sum(nil)[:12])
}

func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// responsesItems are the items of one message: its opaque ones word for word, and where
// they stood. Items have no ids of the endpoint's, which keeps nothing that they could
// name. Reasoning that nothing followed, because the answer was cut, is left out: OpenAI's
// endpoint refuses it (https://github.com/openai/openai-agents-js/issues/546).
func responsesItems(m Message, maker string, ids func(string) string, l Learned) (items []any) {
	text := validText(m.Content)
	if text == "" && len(m.ToolCalls) == 0 {
		text = emptyText
	}
	switch m.Role {
	case RoleTool:
		return []any{map[string]any{"type": "function_call_output", "call_id": ids(m.ToolCallID), "output": text}}
	case RoleAssistant:
	default:
		return []any{map[string]any{"role": m.Role, "content": text}}
	}
	opaque, visible := m.Opaque.of(maker), 0
	add := func(item map[string]any) {
		for ; len(opaque) > 0 && opaque[0].At <= visible; opaque = opaque[1:] {
			switch p := opaque[0]; {
			case p.Name != opaquePhase:
				items = append(items, json.RawMessage(p.Raw))
			case item["role"] != nil && l.takes("phase"):
				item["phase"] = json.RawMessage(p.Raw)
			}
		}
		items = append(items, item)
		visible++
	}
	if text != "" {
		add(map[string]any{"role": m.Role, "content": text})
	}
	for _, c := range m.ToolCalls {
		add(map[string]any{"type": "function_call", "call_id": ids(c.ID), "name": wireName(c.Name),
			"arguments": validArguments(c.Arguments)})
	}
	return items
}

// responsesReader reads answers of the Responses dialect.
type responsesReader struct {
	answer
	byOutput map[int]*partialCall // calls by the index of their item
	texts    map[int]bool         // items whose words came in pieces
	done     map[int]bool         // items that came whole
	buf      []byte
}

func (r *responsesReader) got() *answer { return &r.answer }

// event reads one event. The last holds the usage, and with most endpoints the whole
// answer once more.
func (r *responsesReader) event(data []byte) (done bool, err error) {
	if string(data) == "[DONE]" {
		if !r.ended {
			return true, errBrokenOff
		}
		return true, nil
	}
	s := scanner{b: data}
	if s.peek() != '{' {
		return false, errNotProtocol
	}
	var kind, item, response, delta []byte
	index := 0
	s.fields(func(key []byte) {
		switch string(key) {
		case "type":
			kind = s.word()
		case "output_index":
			index = s.number()
		case "item":
			item = s.raw()
		case "response":
			response = s.raw()
		case "delta":
			if s.peek() == '"' {
				r.buf = s.text(r.buf[:0])
				delta = r.buf
			}
		}
	})
	if s.bad {
		return false, errNotProtocol
	}
	switch string(kind) {
	case "response.output_item.added":
		return false, r.added(item, index)
	case "response.output_text.delta":
		r.mark(&r.texts, index)
		return false, r.addText(delta)
	case "response.refusal.delta":
		return false, r.addRefusal(delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		r.begun, r.thought = true, r.thought+len(delta)
		return false, nil
	case "response.function_call_arguments.delta":
		if call := r.byOutput[index]; call != nil && !call.closed {
			return false, call.add(delta)
		}
		return false, nil
	case "response.output_item.done":
		return false, r.item(item, index)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		return true, r.response(response)
	case "error":
		return true, &saidError{saidIn(data)}
	case "":
		if said := saidIn(data); said.any() {
			return true, &saidError{said}
		}
	}
	return false, nil
}

func (r *responsesReader) mark(m *map[int]bool, index int) {
	if *m == nil {
		*m = map[int]bool{}
	}
	(*m)[index] = true
}

// whole reads an answer that came in one piece.
func (r *responsesReader) whole(body []byte) error { return r.response(body) }

// end is called when the stream ended without saying so.
func (r *responsesReader) end() error {
	if !r.ended {
		return errBrokenOff
	}
	return nil
}

// response reads a whole response, or what the last event says of it.
func (r *responsesReader) response(body []byte) error {
	s := scanner{b: body}
	if s.peek() != '{' {
		return errNotProtocol
	}
	var status, reason string
	var fault error
	failed, hasOutput := false, false
	s.fields(func(key []byte) {
		switch string(key) {
		case "status":
			status = s.str()
		case "error":
			failed = failed || s.peek() != 'n'
		case "incomplete_details":
			s.fields(func(key []byte) {
				if string(key) == "reason" {
					reason = s.str()
				}
			})
		case "output":
			hasOutput = true
			s.items(func(n int) {
				if fault == nil {
					fault = r.item(s.raw(), n)
				}
			})
		case "usage":
			if u := itemsUsage(&s, false); u.Input > 0 {
				r.usage = &u
			}
		}
	})
	switch {
	case failed, status == "failed":
		return &saidError{saidIn(body)}
	case s.bad, !hasOutput && status == "":
		return errNotProtocol
	case fault != nil:
		return fault
	}
	r.ended = true
	r.finish = FinishStop
	if len(r.calls) > 0 {
		r.finish = FinishToolCalls
	}
	if status == "incomplete" {
		if r.finish = FinishLength; reason == "content_filter" {
			r.finish = FinishContentFilter
		}
	}
	return nil
}

// outputItem is an item of an answer as far as it is read.
type outputItem struct {
	kind, id, name string
	phase          []byte // of a message
}

// head reads what tells items apart. Some servers leave call_id out.
func (r *responsesReader) head(raw []byte) (o outputItem) {
	s := scanner{b: raw}
	own := ""
	s.fields(func(key []byte) {
		switch string(key) {
		case "type":
			o.kind = s.str()
		case "call_id":
			o.id = s.str()
		case "id":
			own = s.str()
		case "name":
			o.name = s.str()
		case "phase":
			o.phase = s.kept()
		}
	})
	if o.id == "" {
		o.id = own
	}
	return o
}

// added begins a call: its arguments follow in pieces.
func (r *responsesReader) added(raw []byte, index int) error {
	o := r.head(raw)
	if o.kind != "function_call" || r.byOutput[index] != nil {
		return nil
	}
	call, err := r.newCall(o.id, o.name)
	if err != nil {
		return err
	}
	if r.byOutput == nil {
		r.byOutput = map[int]*partialCall{}
	}
	r.byOutput[index] = call
	return nil
}

// item reads an item that is whole. What came of it in pieces is replaced or passed over.
func (r *responsesReader) item(raw []byte, index int) error {
	if r.done[index] {
		return nil
	}
	r.mark(&r.done, index)
	o := r.head(raw)
	s := scanner{b: raw}
	switch o.kind {
	case "message":
		if o.phase != nil {
			at := r.visible()
			if r.texts[index] { // its words are here already
				at--
			}
			if err := r.keep(OpaquePart{At: max(0, at), Name: opaquePhase, Raw: string(o.phase)}); err != nil {
				return err
			}
		}
		var fault error
		s.fields(func(key []byte) {
			if string(key) == "content" && !r.texts[index] {
				s.items(func(int) {
					if err := r.contentPart(&s); fault == nil {
						fault = err
					}
				})
			}
		})
		r.flowing = false
		return fault
	case "function_call":
		err := r.wholeCall(&s, o, index)
		r.flowing = false
		return err
	case "reasoning":
		kept := s.kept()
		r.thought += len(kept)
		return r.keep(OpaquePart{At: r.visible(), Raw: string(kept)})
	}
	return nil
}

// wholeCall takes over a call's arguments, unless they came in pieces.
func (r *responsesReader) wholeCall(s *scanner, o outputItem, index int) error {
	call := r.byOutput[index]
	if call == nil {
		var err error
		if call, err = r.newCall(o.id, o.name); err != nil {
			return err
		}
	}
	call.closed = true
	var fault error
	s.fields(func(key []byte) {
		if string(key) != "arguments" {
			return
		}
		args := r.buf[:0]
		if s.peek() == '{' {
			args = append(args, s.raw()...)
		} else {
			args = s.text(args)
		}
		if r.buf = args; len(args) > 0 && call.args.Len() != len(args) {
			call.args.Reset()
			fault = call.add(args)
		}
	})
	return fault
}

// contentPart reads a part of a message's content. That of reasoning is no output_text.
func (r *responsesReader) contentPart(s *scanner) error {
	var kind string
	var text []byte
	s.fields(func(key []byte) {
		switch string(key) {
		case "type":
			kind = s.str()
		case "text", "refusal":
			text = s.text(nil)
		}
	})
	switch kind {
	case "output_text", "text":
		return r.addText(text)
	case "refusal":
		return r.addRefusal(text)
	}
	return nil
}

// errNoChoices is an answer that holds none.
var errNoChoices = errors.New("the answer holds no choices")

// saidError is an endpoint's error in the midst of an answer, or in its place.
type saidError struct{ said said }

func (e *saidError) Error() string { return fmt.Sprintf("the endpoint says: %s", e.said.message) }

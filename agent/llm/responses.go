package llm

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	if effort := l.effort(c.cfg.Reasoning); effort != "" {
		out.Reasoning = &openai.ResponseReasoning{Effort: effort}
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

// responsesReader reads answers of the Responses dialect. What belongs together is told by the
// index of the item; where a server leaves it out, or gives it to several
// (https://github.com/lemonade-sdk/lemonade/issues/3607,
// https://github.com/BerriAI/litellm/pull/36375), by the ids of items and calls.
type responsesReader struct {
	answer
	byOutput map[int]*partialCall    // calls by the index of their item
	byItem   map[string]*partialCall // and by its id
	texts    map[int]bool            // items with words that arrive in pieces
	done     map[string]int          // how many items of each kind came whole
	buf      []byte
}

func (r *responsesReader) got() *answer { return &r.answer }

// event reads one event. The last holds the usage, and with most endpoints the whole
// answer once more.
func (r *responsesReader) event(data []byte) (done bool, err error) {
	s := scanner{b: data}
	if s.peek() != '{' {
		return false, errNotProtocol
	}
	var kind, item, id, response, delta []byte
	index, from, end := 0, 0, 0
	s.fields(func(key []byte) {
		switch string(key) {
		case "type":
			kind = s.word()
		case "output_index":
			index = s.number()
		case "item":
			item = s.raw()
		case "item_id":
			id = s.word()
		case "response":
			response = s.raw()
		case "delta", "arguments":
			if s.peek() == '"' {
				from = s.at + 1
				r.buf = s.text(r.buf[:0])
				delta, end = r.buf, s.at-1
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
		if r.texts == nil {
			r.texts = map[int]bool{}
		}
		r.texts[index] = true
		return false, r.addText(delta)
	case "response.refusal.delta":
		return false, r.addRefusal(delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		r.begun, r.thought = true, r.thought+len(delta)
		return false, nil
	case "response.function_call_arguments.delta":
		if call := r.callOf(id, index); call != nil && !call.closed {
			r.like.remember(data, call, from, end)
			return false, call.add(delta)
		}
		return false, nil
	case "response.function_call_arguments.done": // some send nothing else of them
		if call := r.callOf(id, index); call != nil && call.args.Len() == 0 {
			return false, call.add(delta)
		}
		return false, nil
	case "response.output_item.done":
		return false, r.item(r.head(item), item, index)
	case "response.completed", "response.done", "response.incomplete", "response.failed", "response.cancelled":
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

// callOf is the call of an item.
func (r *responsesReader) callOf(id []byte, index int) *partialCall {
	if call := r.byItem[string(id)]; call != nil {
		return call
	}
	return r.byOutput[index]
}

// whole reads an answer that came in one piece.
func (r *responsesReader) whole(body []byte) error { return r.response(body) }

// end ends the answer.
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
			fault = r.output(&s)
		case "usage":
			if u := readUsage(&s).sane(); u.Input > 0 {
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

// output reads the items that the last event lists, without those that came before.
func (r *responsesReader) output(s *scanner) (fault error) {
	came, listed := maps.Clone(r.done), map[string]int{}
	s.items(func(n int) {
		raw := s.raw()
		o := r.head(raw)
		if listed[o.kind]++; fault != nil || o.kind != "function_call" && listed[o.kind] <= came[o.kind] {
			return
		}
		if o.kind == "message" && came[o.kind] == 0 && r.text.Len()+r.refusal.Len() > 0 {
			return // it came in pieces
		}
		fault = r.item(o, raw, n)
	})
	return fault
}

// outputItem is an item of an answer as far as it is read.
type outputItem struct {
	kind, id, own, name string // own is the item's id, id the call's
	phase               []byte // of a message
}

// head reads what tells items apart. Some servers leave call_id out.
func (r *responsesReader) head(raw []byte) (o outputItem) {
	s := scanner{b: raw}
	s.fields(func(key []byte) {
		switch string(key) {
		case "type":
			o.kind = s.str()
		case "call_id":
			o.id = s.str()
		case "id":
			o.own = s.str()
		case "name":
			o.name = s.str()
		case "phase":
			o.phase = s.kept()
		}
	})
	o.id = cmp.Or(o.id, o.own)
	return o
}

// added begins a call: its arguments follow in pieces.
func (r *responsesReader) added(raw []byte, index int) error {
	o := r.head(raw)
	if o.kind != "function_call" {
		return nil
	}
	_, err := r.callFor(o, index)
	return err
}

// callFor is the call of an item, which begins with it unless it has begun.
func (r *responsesReader) callFor(o outputItem, index int) (*partialCall, error) {
	for _, call := range r.calls {
		if o.id != "" && call.id == o.id {
			return call, nil
		}
	}
	if call := r.byOutput[index]; call != nil && o.id == "" {
		return call, nil
	}
	call, err := r.newCall(o.id, o.name)
	if err != nil {
		return nil, err
	}
	if r.byOutput == nil {
		r.byOutput, r.byItem = map[int]*partialCall{}, map[string]*partialCall{}
	}
	r.byOutput[index] = call
	if o.own != "" {
		r.byItem[o.own] = call
	}
	return call, nil
}

// item reads an item that is whole. Its pieces that came before are replaced or passed over.
func (r *responsesReader) item(o outputItem, raw []byte, index int) error {
	if r.done == nil {
		r.done = map[string]int{}
	}
	r.done[o.kind]++
	s := scanner{b: raw}
	switch o.kind {
	case "message":
		inPieces := r.texts[index]
		delete(r.texts, index)
		if o.phase != nil {
			at := r.visible()
			if inPieces { // its words are here already
				at--
			}
			if err := r.keep(OpaquePart{At: max(0, at), Name: opaquePhase, Raw: string(o.phase)}); err != nil {
				return err
			}
		}
		var fault error
		s.fields(func(key []byte) {
			if string(key) == "content" && !inPieces {
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
	call, err := r.callFor(o, index)
	if err != nil {
		return err
	}
	call.closed = true
	s.fields(func(key []byte) {
		if string(key) != "arguments" {
			return
		}
		args := r.buf[:0]
		if s.peek() == '{' {
			args = s.raw()
		} else {
			args = s.text(args)
			r.buf = args
		}
		if len(args) > 0 && call.args.Len() != len(args) {
			call.args.Reset()
			err = call.add(args)
		}
	})
	return err
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

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
	out := openai.CreateResponseRequest{Model: c.cfg.Model, MaxOutputTokens: most, Stream: !l.NoStream}
	if l.takes("store") {
		out.Store = &store
	}
	if l.takes("include") {
		out.Include = []openai.ResponseInclude{"reasoning.encrypted_content"}
	}
	if l.takes("prompt_cache_key") {
		out.PromptCacheKey = conversationKey(req)
	}
	if c.cfg.Reasoning != "" && l.takes("reasoning") {
		out.Reasoning = &openai.ResponseReasoning{Effort: c.cfg.Reasoning}
	}
	maker := c.maker(ProtocolResponses)
	ids := wireIDs(req.Messages, maker, l.NineIDs)
	input := []any{}
	for i, m := range req.Messages {
		if i == 0 && m.Role == RoleSystem {
			out.Instructions = validText(m.Content)
			continue
		}
		input = append(input, responsesItems(m, maker, ids)...)
	}
	out.Input = input
	out.ExtraBody = map[string]any{}
	if len(req.Tools) > 0 {
		var tools []any
		for _, t := range req.Tools {
			tools = append(tools, map[string]any{"type": "function", "name": t.Name, "description": t.Description,
				"parameters": t.Parameters, "strict": false})
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
			fallthrough
		default:
			out.Instructions = strings.TrimSpace(out.Instructions + "\n\n" + askInWords(*s))
		}
	}
	return json.Marshal(out)
}

// conversationKey brings the requests of a conversation to the same cache
// (https://developers.openai.com/api/docs/guides/prompt-caching).
func conversationKey(req Request) string {
	h := sha256.New()
	for _, m := range req.Messages[:min(2, len(req.Messages))] {
		h.Write([]byte(m.Role + "\x00" + m.Content + "\x00"))
	}
	return "sia-" + hex.EncodeToString(h.Sum(nil)[:12])
}

func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// responsesItems are the items of one message: its opaque ones word for word, and where
// they stood. Items have no ids of the endpoint's, which keeps nothing that they could
// name.
func responsesItems(m Message, maker string, ids func(string) string) (items []any) {
	text := validText(m.Content)
	switch m.Role {
	case RoleTool:
		if text == "" {
			text = "(empty)"
		}
		return []any{map[string]any{"type": "function_call_output", "call_id": ids(m.ToolCallID), "output": text}}
	case RoleAssistant:
		opaque := m.Opaque.of(maker)
		visible := 0
		flush := func() {
			for len(opaque) > 0 && opaque[0].At <= visible {
				items = append(items, json.RawMessage(opaque[0].Raw))
				opaque = opaque[1:]
			}
		}
		add := func(item any) {
			flush()
			items = append(items, item)
			visible++
		}
		if text == "" && len(m.ToolCalls) == 0 {
			text = "(empty)"
		}
		if text != "" {
			add(map[string]any{"role": m.Role, "content": text})
		}
		for _, c := range m.ToolCalls {
			add(map[string]any{"type": "function_call", "call_id": ids(c.ID), "name": c.Name,
				"arguments": validArguments(c.Arguments)})
		}
		flush()
		return items
	}
	if text == "" {
		text = "(empty)"
	}
	return []any{map[string]any{"role": m.Role, "content": text}}
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
	var kind string
	var item, response, delta []byte
	index := 0
	s.fields(func(key []byte) {
		switch string(key) {
		case "type":
			kind = s.str()
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
	switch kind {
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

// added begins a call, whose arguments follow in pieces.
func (r *responsesReader) added(item []byte, index int) error {
	s := scanner{b: item}
	var kind, id, name string
	s.fields(func(key []byte) {
		switch string(key) {
		case "type":
			kind = s.str()
		case "call_id":
			id = s.str()
		case "name":
			name = s.str()
		}
	})
	if kind != "function_call" || r.byOutput[index] != nil {
		return nil
	}
	call, err := r.newCall(id, name)
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
	s := scanner{b: raw}
	var kind, id, name string
	var args []byte
	var fault error
	keep := func(err error) {
		if fault == nil {
			fault = err
		}
	}
	s.fields(func(key []byte) {
		switch string(key) {
		case "type":
			kind = s.str()
		case "call_id":
			id = s.str()
		case "name":
			name = s.str()
		case "arguments":
			if s.peek() == '{' {
				args = s.raw()
			} else {
				args = s.text(nil)
			}
		case "content":
			if r.texts[index] {
				return // it came in pieces
			}
			s.items(func(int) { keep(r.contentPart(&s)) })
		}
	})
	switch kind {
	case "function_call":
		call := r.byOutput[index]
		if call == nil {
			var err error
			if call, err = r.newCall(id, name); err != nil {
				return err
			}
		}
		if call.closed = true; len(args) > 0 && call.args.Len() != len(args) {
			call.args.Reset()
			keep(call.add(args))
		}
	case "reasoning":
		whole := scanner{b: raw}
		kept := whole.kept()
		r.thought += len(kept)
		keep(r.keep(OpaquePart{At: r.visible(), Raw: string(kept)}))
	}
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

// itemsUsage reads the tokens that Responses and Messages count. Anthropic counts what was
// read from the cache and written to it beside the input
// (https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching#tracking-cache-performance).
func itemsUsage(s *scanner, beside bool) (u Usage) {
	s.fields(func(key []byte) {
		switch string(key) {
		case "input_tokens":
			u.Input = s.number()
		case "output_tokens":
			u.Output = s.number()
		case "cache_read_input_tokens":
			u.CachedInput = s.number()
		case "cache_creation_input_tokens":
			u.CacheWrite = s.number()
		case "input_tokens_details":
			s.fields(func(key []byte) {
				switch string(key) {
				case "cached_tokens":
					u.CachedInput = s.number()
				case "cache_write_tokens":
					u.CacheWrite = s.number()
				}
			})
		}
	})
	if beside {
		u.Input = max(0, u.Input) + max(0, u.CachedInput) + max(0, u.CacheWrite)
	}
	return u.sane()
}

// errNoChoices is an answer that holds none.
var errNoChoices = errors.New("the answer holds no choices")

// saidError is an endpoint's error in the midst of an answer, or in its place.
type saidError struct{ said said }

func (e *saidError) Error() string { return fmt.Sprintf("the endpoint says: %s", e.said.message) }

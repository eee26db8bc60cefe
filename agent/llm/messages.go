package llm

import (
	"encoding/json"
	"net/url"
	"strings"
)

// anthropicVersion is the one version of the dialect that there is.
// https://docs.anthropic.com/en/api/versioning
const anthropicVersion = "2023-06-01"

// cacheMark asks that everything up to it is kept in the endpoint's cache
// (https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching). A request may
// have four.
var cacheMark = map[string]any{"type": "ephemeral"}

// markedTurns is how many of the last user turns have a mark: the last, so that it is
// there for the next request, and the one before, where this request finds it.
const markedTurns = 2

// encodeMessages is req in the dialect of Messages. Arguments of calls are to come as they are written
// (https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming).
func encodeMessages(c *Client, req Request, l Learned, most int) ([]byte, error) {
	out := map[string]any{"model": c.cfg.Model, "max_tokens": most}
	if !l.wants(formNoStream) {
		out["stream"] = true
	}
	if c.cfg.Reasoning != "" {
		c.askToThink(out, l, most)
	}
	maker := c.maker(ProtocolMessages)
	ids := wireIDs(req.Messages, maker, l)
	system := ""
	var turns []map[string]any
	messages := req.inWords(l)
	if l.wants(formMergedTurns) {
		messages = mergedTurns(messages)
	}
	for i, m := range messages {
		if i == 0 && m.Role == RoleSystem {
			system = m.Content
			continue
		}
		role, content := messagesBlocks(m, maker, ids, l)
		if n := len(turns); n > 0 && turns[n-1]["role"] == role {
			turns[n-1]["content"] = append(turns[n-1]["content"].([]any), content...)
			continue
		}
		turns = append(turns, map[string]any{"role": role, "content": content})
	}
	if s := req.Schema; s != nil && l.Schema == modeSchema {
		set(out, "output_config", "format", map[string]any{"type": "json_schema", "schema": s.JSON})
	}
	var tools []any
	for _, t := range req.Tools {
		one := map[string]any{"name": t.Name, "description": t.Description, "input_schema": t.parameters(l)}
		if l.takes("eager_input_streaming") { // else an argument comes when it is complete
			one["eager_input_streaming"] = true
		}
		tools = append(tools, one)
	}
	marks := l.takes("cache_control")
	if len(tools) > 0 {
		if marks {
			tools[len(tools)-1].(map[string]any)["cache_control"] = cacheMark
		}
		out["tools"] = tools
	}
	if system != "" {
		block := map[string]any{"type": "text", "text": validText(system)}
		if marks {
			block["cache_control"] = cacheMark
		}
		out["system"] = []any{block}
	}
	if marks {
		markTurns(turns)
	}
	out["messages"] = turns
	return json.Marshal(out)
}

// askToThink asks for reasoning. Models of today decide themselves how long they think, and
// take a level; older ones want a number of tokens.
// https://docs.anthropic.com/en/docs/build-with-claude/adaptive-thinking
func (c *Client) askToThink(out map[string]any, l Learned, most int) {
	if c.cfg.Reasoning == "none" {
		return // it is off unless it is asked for
	}
	if effort := l.effort(c.cfg.Reasoning); effort != "" {
		set(out, "output_config", "effort", effort)
	}
	const least = 1024 // tokens that a budget has to have
	switch {
	case !l.takes("thinking"):
	case l.takes("adaptive"):
		out["thinking"] = map[string]any{"type": "adaptive"}
	case most > 2*least:
		out["thinking"] = map[string]any{"type": "enabled", "budget_tokens": max(least, most/2)}
	}
}

// set sets a field of an object within an object.
func set(out map[string]any, name, field string, v any) {
	in, _ := out[name].(map[string]any)
	if in == nil {
		in = map[string]any{}
		out[name] = in
	}
	in[field] = v
}

// messagesBlocks are the role and the blocks of one message.
func messagesBlocks(m Message, maker string, ids func(string) string, l Learned) (role string, blocks []any) {
	text := validText(m.Content)
	if strings.TrimSpace(text) == "" { // the endpoint refuses such a text
		text = emptyText
	}
	block := map[string]any{"type": "text", "text": text}
	switch m.Role {
	case RoleTool:
		return RoleUser, []any{map[string]any{"type": "tool_result", "tool_use_id": ids(m.ToolCallID), "content": text}}
	case RoleAssistant:
	default:
		return RoleUser, []any{block}
	}
	opaque, visible := m.Opaque.of(maker), 0
	if !l.takes("thinking") && len(opaque) > 0 {
		opaque = nil // the endpoint refuses what it thought
	}
	flush := func() {
		for len(opaque) > 0 && opaque[0].At <= visible {
			blocks = append(blocks, json.RawMessage(opaque[0].Raw))
			opaque = opaque[1:]
		}
	}
	if m.Content != "" || len(m.ToolCalls) == 0 {
		flush()
		blocks = append(blocks, block)
		visible++
	}
	for _, c := range m.ToolCalls {
		flush()
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": ids(c.ID), "name": wireName(c.Name),
			"input": json.RawMessage(validArguments(c.Arguments))})
		visible++
	}
	flush()
	return RoleAssistant, blocks
}

// markTurns marks the last block of the last user turns.
func markTurns(turns []map[string]any) {
	left := markedTurns
	for i := len(turns) - 1; i >= 0 && left > 0; i-- {
		if turns[i]["role"] != RoleUser {
			continue
		}
		blocks := turns[i]["content"].([]any)
		if last, ok := blocks[len(blocks)-1].(map[string]any); ok {
			last["cache_control"] = cacheMark
			left--
		}
	}
}

// marksByAddress reports whether an endpoint that speaks chat completions is known to pass
// cache marks on.
// https://openrouter.ai/docs/features/prompt-caching
func marksByAddress(base string) bool {
	u, err := url.Parse(base)
	return err == nil && (u.Hostname() == "openrouter.ai" || strings.HasSuffix(u.Hostname(), ".openrouter.ai"))
}

// markChat marks the system message and the last user turns of chat completions. A mark
// stands on a block, so their texts become lists of one.
func markChat(messages []map[string]any) {
	mark := func(m map[string]any) {
		if text, ok := m["content"].(string); ok {
			m["content"] = []any{map[string]any{"type": "text", "text": text, "cache_control": cacheMark}}
		}
	}
	if len(messages) > 0 && messages[0]["role"] == RoleSystem {
		mark(messages[0])
	}
	left := markedTurns
	for i := len(messages) - 1; i > 0 && left > 0; i-- {
		// Results of one answer are one turn: the last of them has the mark.
		next := ""
		if i+1 < len(messages) {
			next, _ = messages[i+1]["role"].(string)
		}
		if role := messages[i]["role"]; role == RoleAssistant || next == RoleTool || next == RoleUser {
			continue
		}
		mark(messages[i])
		left--
	}
}

// messagesReader reads answers of the Messages dialect.
type messagesReader struct {
	answer
	blocks map[int]*messageBlock
	said   Usage
	buf    []byte
}

// messageBlock is a block that comes in pieces.
type messageBlock struct {
	kind      string
	call      *partialCall
	thinking  strings.Builder
	signature strings.Builder
	whole     json.RawMessage // as it began
	at        int
}

func (r *messagesReader) got() *answer { return &r.answer }

// event reads one event.
func (r *messagesReader) event(data []byte) (done bool, err error) {
	s := scanner{b: data}
	if s.peek() != '{' {
		return false, errNotProtocol
	}
	var kind, block, message, usage []byte
	var delta scanner
	index := 0
	s.fields(func(key []byte) {
		switch string(key) {
		case "type":
			kind = s.word()
		case "index":
			index = s.number()
		case "content_block":
			block = s.raw()
		case "delta":
			delta = s
			s.skip()
		case "message":
			message = s.raw()
		case "usage":
			usage = s.raw()
		}
	})
	if s.bad {
		return false, errNotProtocol
	}
	switch string(kind) {
	case "message_start":
		m := scanner{b: message}
		m.fields(func(key []byte) {
			if string(key) == "usage" {
				r.count(m.raw())
			}
		})
	case "content_block_start":
		return false, r.start(block, index)
	case "content_block_delta":
		return false, r.delta(&delta, index)
	case "content_block_stop":
		return false, r.stop(index)
	case "message_delta":
		r.count(usage)
		delta.fields(func(key []byte) {
			if string(key) == "stop_reason" {
				r.finish = delta.str()
			}
		})
	case "message_stop":
		return true, r.end()
	case "error":
		return true, &saidError{saidIn(data)}
	case "":
		if said := saidIn(data); said.any() {
			return true, &saidError{said}
		}
	}
	return false, nil
}

// end ends the answer.
func (r *messagesReader) end() error {
	if r.finish == "" && len(r.calls) == 0 {
		return errBrokenOff
	}
	r.ended = true
	return nil
}

// whole reads an answer that came in one piece.
func (r *messagesReader) whole(body []byte) error {
	s := scanner{b: body}
	var kind string
	var fault error
	content, failed := false, false
	s.fields(func(key []byte) {
		switch string(key) {
		case "type":
			kind = s.str()
		case "error":
			failed = failed || s.peek() != 'n'
		case "stop_reason":
			r.finish = s.str()
		case "usage":
			r.count(s.raw())
		case "content":
			content = true
			s.items(func(n int) {
				if fault == nil {
					if fault = r.start(s.raw(), n); fault == nil {
						fault = r.stop(n)
					}
				}
			})
		}
	})
	switch {
	case failed, kind == "error":
		return &saidError{saidIn(body)}
	case s.bad, !content:
		return errNotProtocol
	}
	r.ended = true
	return fault
}

// count takes over usage. Later events say what changed, and leave out what did not. What was
// read from the cache and written to it is counted beside the input
// (https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching#tracking-cache-performance).
func (r *messagesReader) count(raw []byte) {
	u := readUsage(&scanner{b: raw})
	r.said.Input, r.said.Output = max(r.said.Input, u.Input), max(r.said.Output, u.Output)
	r.said.CachedInput, r.said.CacheWrite = max(r.said.CachedInput, u.CachedInput), max(r.said.CacheWrite, u.CacheWrite)
	all := r.said
	all.Input += all.CachedInput + all.CacheWrite
	if all = all.sane(); all.Input > 0 {
		r.usage = &all
	}
}

// start begins a block; one of a whole answer is complete with that.
func (r *messagesReader) start(raw []byte, index int) error {
	s := scanner{b: raw}
	b := &messageBlock{}
	var id, name string
	var input, text []byte
	s.fields(func(key []byte) {
		switch string(key) {
		case "type":
			b.kind = s.str()
		case "id":
			id = s.str()
		case "name":
			name = s.str()
		case "input":
			input = s.raw()
		case "text":
			text = s.text(nil)
		}
	})
	if r.blocks == nil {
		r.blocks = map[int]*messageBlock{}
	}
	if len(r.blocks) >= 2*maxBegunCalls {
		return errTooMuch
	}
	r.blocks[index] = b
	switch b.kind {
	case "text":
		return r.addText(text)
	case "tool_use":
		call, err := r.newCall(id, name)
		if err != nil {
			return err
		}
		if b.call = call; len(input) > 0 && string(input) != "{}" && input[0] == '{' {
			return call.add(input)
		}
	case "thinking", "redacted_thinking":
		whole := scanner{b: raw}
		b.at, b.whole = r.visible(), whole.kept()
		r.begun = true
	}
	return nil
}

// delta adds a piece to a block.
func (r *messagesReader) delta(s *scanner, index int) error {
	b := r.blocks[index]
	if b == nil {
		return nil
	}
	var fault error
	s.fields(func(key []byte) {
		k, from := string(key), s.at+1
		switch k {
		case "text", "partial_json", "thinking", "signature":
			r.buf = s.text(r.buf[:0])
		}
		switch {
		case k == "text":
			fault = r.addText(r.buf)
		case k == "partial_json" && b.call != nil:
			r.like.remember(s.b, b.call, from, s.at-1)
			fault = b.call.add(r.buf)
		case k == "thinking":
			r.thought += len(r.buf)
			fault = grow(&b.thinking, r.buf, maxTextBytes, "its reasoning")
		case k == "signature":
			fault = grow(&b.signature, r.buf, maxTextBytes, "its reasoning")
		}
	})
	return fault
}

// stop ends a block. A thinking block is put together as it would have come in one piece.
func (r *messagesReader) stop(index int) error {
	r.flowing, r.like.call = false, nil
	b := r.blocks[index]
	if b == nil || b.whole == nil {
		return nil
	}
	raw := b.whole
	if b.kind == "thinking" && b.thinking.Len()+b.signature.Len() > 0 {
		var block map[string]json.RawMessage
		if err := json.Unmarshal(raw, &block); err != nil {
			return errNotProtocol
		}
		for name, text := range map[string]string{"thinking": b.thinking.String(), "signature": b.signature.String()} {
			if text == "" { // it came with the block, or there is none
				continue
			}
			v, err := quoted(text)
			if err != nil {
				return err
			}
			block[name] = v
		}
		var err error
		if raw, err = json.Marshal(block); err != nil {
			return err
		}
	}
	b.whole = nil
	return r.keep(OpaquePart{At: b.at, Raw: string(raw)})
}

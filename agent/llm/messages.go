package llm

import (
	"bytes"
	"cmp"
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
	for i, m := range arranged(req.inWords(l), l) {
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

// messagesEvent is an event of a stream.
type messagesEvent struct {
	Type  string
	Index wireNumber
	Block messageBlock `json:"content_block"`
	Delta struct {
		Text, Thinking, Signature wireText
		Arguments                 wireText `json:"partial_json"`
		Finish                    string   `json:"stop_reason"`
	}
	Message struct{ Usage wireUsage }
	Usage   wireUsage
}

// wholeMessage is an answer that came in one piece.
type wholeMessage struct {
	Type    string
	Error   json.RawMessage
	Finish  string `json:"stop_reason"`
	Content []messageBlock
	Usage   wireUsage
}

// messageBlock is a block of an answer, which may come in pieces.
type messageBlock struct {
	Type, ID, Name string
	Text           wireText
	Input          wireArguments

	whole     json.RawMessage // of a thought, as it began
	at        int             // how many visible parts stand before it
	call      *partialCall
	thinking  strings.Builder
	signature strings.Builder
}

// UnmarshalJSON keeps what goes back word for word.
func (m *messageBlock) UnmarshalJSON(b []byte) error {
	type plain messageBlock
	_ = decodeWire(b, (*plain)(m)) // what is no object has no type
	if m.Type == "thinking" || m.Type == "redacted_thinking" {
		m.whole = bytes.Clone(b)
	}
	return nil
}

// messagesReader reads answers of the Messages dialect.
type messagesReader struct {
	answer
	blocks map[int]*messageBlock
	said   Usage
}

func (r *messagesReader) got() *answer { return &r.answer }

// event reads one event.
func (r *messagesReader) event(data []byte) (done bool, err error) {
	var e messagesEvent
	if err := decodeWire(data, &e); err != nil {
		return false, err
	}
	switch e.Type {
	case "message_start":
		r.countBeside(e.Message.Usage)
	case "content_block_start":
		return false, r.start(&e.Block, int(e.Index))
	case "content_block_delta":
		return false, r.delta(data, e)
	case "content_block_stop":
		return false, r.stop(int(e.Index))
	case "message_delta":
		r.countBeside(e.Usage)
		r.finish = cmp.Or(e.Delta.Finish, r.finish)
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
	var m wholeMessage
	if err := decodeWire(body, &m); err != nil {
		return err
	}
	switch {
	case isSet(m.Error), m.Type == "error":
		return &saidError{saidIn(body)}
	case m.Content == nil:
		return errNotProtocol
	}
	r.finish, r.ended = m.Finish, true
	r.countBeside(m.Usage)
	for n := range m.Content {
		err := r.start(&m.Content[n], n)
		if err == nil {
			err = r.stop(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// countBeside takes over usage. Later events say what changed, and leave out what did not. What was
// read from the cache and written to it is counted beside the input
// (https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching#tracking-cache-performance).
func (r *messagesReader) countBeside(w wireUsage) {
	u := w.tokens()
	r.said.Input, r.said.Output = max(r.said.Input, u.Input), max(r.said.Output, u.Output)
	r.said.CachedInput, r.said.CacheWrite = max(r.said.CachedInput, u.CachedInput), max(r.said.CacheWrite, u.CacheWrite)
	all := r.said
	all.Input += all.CachedInput + all.CacheWrite
	if all = all.sane(); all.Input > 0 {
		r.usage = &all
	}
}

// start begins a block; one of a whole answer is complete with that.
func (r *messagesReader) start(b *messageBlock, index int) (err error) {
	if r.blocks == nil {
		r.blocks = map[int]*messageBlock{}
	}
	if len(r.blocks) >= 2*maxBegunCalls {
		return errTooMuch
	}
	r.blocks[index] = b
	switch b.Type {
	case "text":
		return r.addText(b.Text)
	case "tool_use":
		if b.call, err = r.newCall(b.ID, b.Name); err == nil && string(b.Input) != "{}" {
			err = b.call.add(b.Input)
		}
		return err
	case "thinking", "redacted_thinking":
		b.at, r.begun = r.visible(), true
	}
	return nil
}

// delta adds a piece to a block.
func (r *messagesReader) delta(data []byte, e messagesEvent) error {
	b := r.blocks[int(e.Index)]
	switch d := e.Delta; {
	case b == nil:
	case d.Text != nil:
		return r.addText(d.Text)
	case d.Arguments != nil && b.call != nil:
		r.like.remember(data, "partial_json", b.call)
		return b.call.add(d.Arguments)
	case d.Thinking != nil:
		return r.think(&b.thinking, d.Thinking)
	case d.Signature != nil:
		return grow(&b.signature, d.Signature, maxTextBytes, "its reasoning")
	}
	return nil
}

// stop ends a block. A thinking block is put together as it would have come in one piece.
func (r *messagesReader) stop(index int) error {
	r.flowing, r.like.call = false, nil
	b := r.blocks[index]
	if b == nil || b.whole == nil {
		return nil
	}
	raw := string(b.whole)
	if b.Type == "thinking" && b.thinking.Len()+b.signature.Len() > 0 {
		block := map[string]json.RawMessage{}
		_ = json.Unmarshal(b.whole, &block) // it is an object
		for name, text := range map[string]string{"thinking": b.thinking.String(), "signature": b.signature.String()} {
			if text != "" { // else it came with the block, or there is none
				block[name] = json.RawMessage(marshaled(wellFormed(text)))
			}
		}
		raw = marshaled(block)
	}
	b.whole = nil
	return r.keep(OpaquePart{At: b.at, Raw: raw})
}

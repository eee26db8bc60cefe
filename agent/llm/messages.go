package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/sia-bot/sia/agent/llm/usage"
)

// anthropicVersion is the only version of the dialect. https://docs.anthropic.com/en/api/versioning
const anthropicVersion = "2023-06-01"

// cacheMark asks the endpoint to cache everything up to it
// (https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching). A request may have four.
var cacheMark = map[string]any{"type": "ephemeral"}

// markedTurns is the number of last user turns with a mark: the last one writes the cache for the next request, and the
// one before is where this request reads it.
const markedTurns = 2

// encodeMessages encodes req for the Messages dialect. It requests that arguments of calls are streamed as written
// (https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming).
func encodeMessages(c *Client, req Request, l Learned, limit int) ([]byte, error) {
	out := map[string]any{"model": c.cfg.Model, "max_tokens": limit}
	if !l.uses(formNoStream) {
		out["stream"] = true
	}
	if c.cfg.Reasoning != "" {
		c.setThinking(out, l, limit)
	}
	maker := c.maker(ProtocolMessages)
	ids := wireIDs(req.Messages, maker, l)
	system := ""
	var turns []map[string]any
	for i, m := range arrange(req.withSchemaPrompt(l), l) {
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
		if l.accepts("eager_input_streaming") { // otherwise the endpoint buffers each argument
			one["eager_input_streaming"] = true
		}
		tools = append(tools, one)
	}
	marks := l.accepts("cache_control")
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

// setThinking requests reasoning. Current models decide themselves how long they think, and accept an effort; older
// ones require a number of tokens. https://docs.anthropic.com/en/docs/build-with-claude/adaptive-thinking
func (c *Client) setThinking(out map[string]any, l Learned, limit int) {
	if c.cfg.Reasoning == "none" {
		return // the default is no thinking
	}
	if effort := l.effort(c.cfg.Reasoning); effort != "" {
		set(out, "output_config", "effort", effort)
	}
	const least = 1024 // smallest allowed budget, in tokens
	switch {
	case !l.accepts("thinking"):
	case l.accepts("adaptive"):
		out["thinking"] = map[string]any{"type": "adaptive"}
	case limit > 2*least:
		out["thinking"] = map[string]any{"type": "enabled", "budget_tokens": max(least, limit/2)}
	}
}

// set sets a field of a nested object.
func set(out map[string]any, name, field string, v any) {
	in, _ := out[name].(map[string]any)
	if in == nil {
		in = map[string]any{}
		out[name] = in
	}
	in[field] = v
}

// messagesBlocks returns the role and the blocks of one message.
func messagesBlocks(m Message, maker string, ids func(string) string, l Learned) (role string, blocks []any) {
	text := validText(m.Content)
	if strings.TrimSpace(text) == "" { // the endpoint refuses blank text
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
	if !l.accepts("thinking") && len(opaque) > 0 {
		opaque = nil // the endpoint refuses its own reasoning
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

// marksByAddress reports whether an endpoint that speaks chat completions is known to pass on cache marks.
// https://openrouter.ai/docs/features/prompt-caching
func marksByAddress(base string) bool {
	u, err := url.Parse(base)
	return err == nil && (u.Hostname() == "openrouter.ai" || strings.HasSuffix(u.Hostname(), ".openrouter.ai"))
}

// markChat marks the system message and the last user turns of chat completions. A mark belongs to a block, so their
// texts become lists of one block.
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
		// Results of one answer are one turn; the last one is marked.
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
	Message struct{ Usage usage.Report }
	Usage   usage.Report
}

// wholeMessage is an answer that is not streamed.
type wholeMessage struct {
	Type    string
	Error   json.RawMessage
	Finish  string `json:"stop_reason"`
	Content []messageBlock
	Usage   usage.Report
}

// messageBlock is a block of an answer, possibly streamed.
type messageBlock struct {
	Type, ID, Name string
	Text           wireText
	Input          wireArguments

	whole     json.RawMessage // JSON of a thinking block at its start
	at        int             // number of visible parts before it
	call      *partialCall
	thinking  strings.Builder
	signature strings.Builder
}

// UnmarshalJSON keeps the JSON of blocks that are sent back unchanged.
func (m *messageBlock) UnmarshalJSON(b []byte) error {
	type plain messageBlock
	_ = decodeWire(b, (*plain)(m)) // a value other than an object has no type
	if m.Type == "thinking" || m.Type == "redacted_thinking" {
		m.whole = bytes.Clone(b)
	}
	return nil
}

// messagesReader reads answers of the Messages dialect.
type messagesReader struct {
	answer
	blocks   map[int]*messageBlock
	reported usage.Sum
}

func (r *messagesReader) partial() *answer { return &r.answer }

// event reads one event.
func (r *messagesReader) event(data []byte) (done bool, err error) {
	var e messagesEvent
	if err := decodeWire(data, &e); err != nil {
		return false, err
	}
	switch e.Type {
	case "message_start":
		r.addUsage(e.Message.Usage)
	case "content_block_start":
		return false, r.start(&e.Block, int(e.Index))
	case "content_block_delta":
		return false, r.delta(data, e)
	case "content_block_stop":
		return false, r.stop(int(e.Index))
	case "message_delta":
		r.addUsage(e.Usage)
		r.finish = cmp.Or(e.Delta.Finish, r.finish)
	case "message_stop":
		return true, r.end()
	case "error":
		return true, &endpointError{parseErrorBody(data)}
	case "":
		if parsed := parseErrorBody(data); parsed.isPresent() {
			return true, &endpointError{parsed}
		}
	}
	return false, nil
}

// end ends the answer.
func (r *messagesReader) end() error {
	if r.finish == "" && len(r.calls) == 0 {
		return errTruncated
	}
	r.ended = true
	return nil
}

// whole reads an answer that is not streamed.
func (r *messagesReader) whole(body []byte) error {
	var m wholeMessage
	if err := decodeWire(body, &m); err != nil {
		return err
	}
	switch {
	case isSet(m.Error), m.Type == "error":
		return &endpointError{parseErrorBody(body)}
	case m.Content == nil:
		return errNotProtocol
	}
	r.finish, r.ended = m.Finish, true
	r.addUsage(m.Usage)
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

// addUsage adds to the usage. Later events hold only the changes.
func (r *messagesReader) addUsage(w usage.Report) {
	r.reported.Add(w)
	r.setUsage(r.reported.Tokens(true))
}

// start starts a block. A block of a complete answer needs no more than that and stop.
func (r *messagesReader) start(b *messageBlock, index int) (err error) {
	if r.blocks == nil {
		r.blocks = map[int]*messageBlock{}
	}
	if len(r.blocks) >= 2*maxBegunCalls {
		return errLimitExceeded
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
		b.at, r.started = r.visibleParts(), true
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
		r.lastForm.remember(data, "partial_json", b.call)
		return b.call.add(d.Arguments)
	case d.Thinking != nil:
		return r.addReasoning(&b.thinking, d.Thinking)
	case d.Signature != nil:
		return grow(&b.signature, d.Signature, maxTextBytes, "its reasoning")
	}
	return nil
}

// stop ends a block. It assembles a thinking block into its form in an answer that is not streamed.
func (r *messagesReader) stop(index int) error {
	r.streamingText, r.lastForm.call = false, nil
	b := r.blocks[index]
	if b == nil || b.whole == nil {
		return nil
	}
	raw := string(b.whole)
	if b.Type == "thinking" && b.thinking.Len()+b.signature.Len() > 0 {
		block := map[string]json.RawMessage{}
		_ = json.Unmarshal(b.whole, &block) // it is an object
		for name, text := range map[string]string{"thinking": b.thinking.String(), "signature": b.signature.String()} {
			if text != "" { // otherwise it was in the block's start, or is absent
				block[name] = json.RawMessage(marshal(joinSurrogates(text)))
			}
		}
		raw = marshal(block)
	}
	b.whole = nil
	return r.addOpaque(OpaquePart{At: b.at, Raw: raw})
}

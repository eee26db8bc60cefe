package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// chatRequest is the request of chat completions. Its messages are ours: the library's
// have no place for what other vendors add.
type chatRequest struct {
	openai.ChatCompletionRequest
	Messages []map[string]any `json:"messages"`
}

// encodeChat is req in chat completions, as far as the endpoint accepts it.
func encodeChat(c *Client, req Request, l Learned, most int) ([]byte, error) {
	var out chatRequest
	out.Model = c.cfg.Model
	if l.OldMax {
		out.MaxTokens = most //nolint:staticcheck // deprecated by OpenAI, and all that some servers know
	} else {
		out.MaxCompletionTokens = most
	}
	if out.Stream = !l.NoStream; out.Stream && l.takes("stream_options") {
		out.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	if l.takes("reasoning_effort") {
		out.ReasoningEffort = c.cfg.Reasoning
	}
	ids := wireIDs(req.Messages, c.maker(ProtocolChat), l.NineIDs)
	for _, m := range req.Messages {
		out.Messages = append(out.Messages, c.chatMessage(m, l, ids))
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: t.Parameters,
		}})
	}
	if req.Schema != nil {
		out.askForJSON(*req.Schema, l.Schema)
	}
	if l.takes("cache_control") && (l.Marks || marksByAddress(c.cfg.BaseURL)) {
		markChat(out.Messages)
	}
	return json.Marshal(out)
}

// chatMessage is one message on the wire.
func (c *Client) chatMessage(m Message, l Learned, ids func(string) string) map[string]any {
	content := strings.ToValidUTF8(m.Content, "\uFFFD")
	out := map[string]any{"role": m.Role}
	if m.Role == RoleTool {
		out["tool_call_id"] = ids(m.ToolCallID)
	}
	var calls []map[string]any
	for _, call := range m.ToolCalls {
		args := validArguments(call.Arguments)
		calls = append(calls, map[string]any{"id": ids(call.ID), "type": "function",
			"function": map[string]any{"name": call.Name, "arguments": args}})
	}
	if content == "" && len(calls) == 0 {
		content = "(empty)" // endpoints refuse an empty text
	}
	out["content"] = content
	if content == "" {
		out["content"] = nil
	}
	parts := m.Opaque.of(c.maker(ProtocolChat))
	for _, p := range parts {
		switch {
		case !l.takes(p.Name):
		case p.At > 0 && p.At <= len(calls):
			calls[p.At-1][p.Name] = json.RawMessage(p.Raw)
		case p.Name == "content":
			out["content"] = []any{json.RawMessage(p.Raw), map[string]any{"type": "text", "text": content}}
			if content == "" {
				out["content"] = []any{json.RawMessage(p.Raw)}
			}
		case p.At == 0:
			out[p.Name] = json.RawMessage(p.Raw)
		}
	}
	if m.Role == RoleAssistant {
		l.standIn(out, calls)
	}
	if len(calls) > 0 {
		out["tool_calls"] = calls
	}
	return out
}

// standIn adds what an endpoint wants of every answer and what one of another model does
// not have.
//
// DeepSeek wants reasoning_content of each answer, and an empty one is one
// (https://github.com/anomalyco/opencode/issues/24722). Gemini wants the signature of the
// first call of each answer, and documents a value that stands for none
// (https://ai.google.dev/gemini-api/docs/thought-signatures).
func (l Learned) standIn(m map[string]any, calls []map[string]any) {
	if _, has := m["reasoning_content"]; l.WantsReasoning && !has {
		m["reasoning_content"] = ""
	}
	if l.WantsSignature && len(calls) > 0 {
		if _, has := calls[0]["extra_content"]; !has {
			calls[0]["extra_content"] = map[string]any{"google": map[string]any{
				"thought_signature": "skip_thought_signature_validator"}}
		}
	}
}

// validArguments is arguments that an endpoint takes back: some refuse a conversation that
// holds what their own model wrote.
func validArguments(args string) string {
	if !json.Valid([]byte(args)) {
		return "{}"
	}
	return args
}

// opaqueFields are the fields of a message that are opaque: DeepSeek's and vLLM's, Ollama's
// and OpenRouter's, OpenRouter's, Gemini's, and LiteLLM's.
var opaqueFields = map[string]bool{"reasoning_content": true, "reasoning": true, "reasoning_details": true,
	"extra_content": true, "thinking_blocks": true, "provider_specific_fields": true}

// chatReader reads answers of chat completions, also those that keep to the protocol
// loosely.
type chatReader struct {
	answer
	byIndex  map[int]*partialCall
	words    map[string]*strings.Builder // opaque fields that are texts and come in pieces
	lists    map[string][]json.RawMessage
	values   map[string]json.RawMessage
	thinking strings.Builder // of content blocks
	fault    error
	buf      []byte
	s        scanner
	like     chunkForm // the last chunk that held a piece of a call and nothing else
	pieces   int       // of arguments in the chunk that is read
}

// chunkForm is a chunk without the piece of arguments that it holds. Most of a long call
// comes in thousands of chunks that differ in that piece alone: what has the same form is
// not read again.
type chunkForm struct {
	call         *partialCall
	head, tail   []byte
	before, span int // where the piece was in the chunk
}

// obfuscation pads OpenAI's chunks to hide how long their pieces are.
var obfuscation = []byte(`"obfuscation":"`)

// remember keeps the form of a chunk.
func (f *chunkForm) remember(data []byte) {
	end := f.before + f.span
	if f.span < 0 || end > len(data) {
		f.call = nil
		return
	}
	f.head, f.tail = append(f.head[:0], data[:f.before]...), append(f.tail[:0], withoutPadding(data[end:])...)
}

// withoutPadding is a chunk's end up to its padding.
func withoutPadding(tail []byte) []byte {
	if i := bytes.Index(tail, obfuscation); i >= 0 {
		if rest := tail[i+len(obfuscation):]; bytes.IndexByte(rest, '"') == len(rest)-2 {
			return tail[:i+len(obfuscation)]
		}
	}
	return tail
}

// piece is the piece of arguments in a chunk of this form.
func (f *chunkForm) piece(data []byte) ([]byte, bool) {
	if f.call == nil || !bytes.HasPrefix(data, f.head) {
		return nil, false
	}
	s := scanner{b: data, at: len(f.head) - 1} // at the quote
	lit := s.literal()
	if s.bad {
		return nil, false
	}
	tail := data[s.at-1:]
	if !bytes.HasPrefix(tail, f.tail) {
		return nil, false
	}
	if rest := tail[len(f.tail):]; len(rest) > 0 && !isPadding(rest) {
		return nil, false
	}
	return lit, true
}

// isPadding reports whether a chunk ends with the rest of a padding and nothing else.
func isPadding(rest []byte) bool {
	return bytes.HasSuffix(rest, []byte(`"}`)) && bytes.IndexByte(rest, '"') == len(rest)-2 &&
		bytes.IndexByte(rest, '\\') < 0
}

// volume grows with everything that a chunk adds but arguments.
func (r *chatReader) volume() int {
	return r.text.Len() + r.refusal.Len() + r.thought + r.opaqueBytes + len(r.calls) + r.thinking.Len()
}

func (r *chatReader) got() *answer { return &r.answer }

// event reads one chunk.
func (r *chatReader) event(data []byte) (done bool, err error) {
	if string(data) == "[DONE]" {
		if r.finish == "" && !r.begun {
			return true, errBrokenOff
		}
		return true, r.finishOpaque()
	}
	if err := r.read(data); err != nil {
		return false, err
	}
	return false, nil
}

// whole reads an answer that came in one piece.
func (r *chatReader) whole(body []byte) error {
	if err := r.read(body); err != nil {
		return err
	}
	r.ended = true
	if r.finish == "" && !r.begun {
		return errNoChoices
	}
	return r.finishOpaque()
}

// end is called when the stream ended without saying so.
func (r *chatReader) end() error { return r.finishOpaque() }

func (r *chatReader) read(data []byte) error {
	if lit, ok := r.like.piece(data); ok {
		if bytes.IndexByte(lit, '\\') < 0 {
			return r.like.call.add(lit)
		}
		r.buf = appendUnquoted(r.buf[:0], lit)
		return r.like.call.add(r.buf)
	}
	before := r.volume()
	r.pieces, r.like.call = 0, nil
	if err := r.readChunk(data); err != nil {
		return err
	}
	if r.pieces == 1 && r.volume() == before {
		r.like.remember(data)
	} else {
		r.like.call = nil
	}
	return nil
}

func (r *chatReader) readChunk(data []byte) error {
	r.s = scanner{b: data}
	s := &r.s
	if s.peek() == '[' { // Gemini wraps an error in a list
		if said := saidIn(data); said.any() {
			return &saidError{said}
		}
	}
	if s.peek() != '{' {
		return errNotProtocol
	}
	failed := false
	s.fields(func(key []byte) {
		switch string(key) {
		case "choices":
			s.items(func(int) { r.choice(s) })
		case "usage":
			if u, ok := chatUsage(s); ok {
				r.usage = &u
			}
		case "error":
			failed = failed || s.peek() != 'n'
		case "object":
			failed = failed || string(s.raw()) == `"error"`
		case "provider":
			r.gateway = s.str()
		}
	})
	switch {
	case failed:
		return &saidError{saidIn(data)}
	case r.fault != nil:
		return r.fault
	case s.bad:
		return errNotProtocol
	}
	return nil
}

// choice reads a choice of a chunk, or of a whole answer. Only the first counts; more are
// never asked for.
func (r *chatReader) choice(s *scanner) {
	other := false
	s.fields(func(key []byte) {
		switch string(key) {
		case "index":
			other = s.number() != 0
		case "finish_reason":
			if f := s.str(); f != "" && !other {
				r.finish = f
			}
		case "delta", "message":
			if !other {
				r.message(s)
			}
		}
	})
}

// message reads a delta or a message.
func (r *chatReader) message(s *scanner) {
	s.fields(func(key []byte) {
		switch string(key) {
		case "content":
			r.content(s)
		case "refusal":
			r.check(r.addRefusal(r.piece(s)))
		case "tool_calls":
			s.items(func(int) { r.call(s) })
		case "function_call": // of before there were tools
			if s.peek() == '{' {
				r.function(s, r.callFor(0, true, ""))
			}
		default:
			if opaqueFields[string(key)] {
				r.opaqueField(s, string(key))
			}
		}
	})
}

func (r *chatReader) check(err error) {
	if r.fault == nil {
		r.fault = err
	}
}

// piece is the text of a string, valid until the next.
func (r *chatReader) piece(s *scanner) []byte {
	r.buf = s.text(r.buf[:0])
	return r.buf
}

// content reads the words, which some servers send as a list of blocks
// (https://github.com/HKUDS/nanobot/issues/2494). Mistral's thinking blocks are opaque
// (https://docs.mistral.ai/capabilities/reasoning/).
func (r *chatReader) content(s *scanner) {
	if s.peek() != '[' {
		r.check(r.addText(r.piece(s)))
		return
	}
	s.items(func(int) {
		if s.peek() == '"' {
			r.check(r.addText(r.piece(s)))
			return
		}
		s.fields(func(key []byte) {
			switch string(key) {
			case "text":
				r.check(r.addText(r.piece(s)))
			case "thinking":
				if s.peek() == '"' {
					r.think(r.piece(s))
					return
				}
				s.items(func(int) {
					s.fields(func(key []byte) {
						if string(key) == "text" {
							r.think(r.piece(s))
						}
					})
				})
			}
		})
	})
}

func (r *chatReader) think(piece []byte) {
	r.begun, r.thought = true, r.thought+len(piece)
	r.check(grow(&r.thinking, piece, maxTextBytes, "its reasoning"))
}

// opaqueField takes over a piece of an opaque field of the message.
func (r *chatReader) opaqueField(s *scanner, name string) {
	switch s.peek() {
	case '"':
		piece := r.piece(s)
		if len(piece) == 0 && r.words[name] == nil {
			return
		}
		if r.words == nil {
			r.words = map[string]*strings.Builder{}
		}
		if r.words[name] == nil {
			r.words[name] = &strings.Builder{}
		}
		r.begun, r.thought = true, r.thought+len(piece)
		r.check(grow(r.words[name], piece, maxTextBytes, "its reasoning"))
	case '[':
		s.items(func(int) {
			if raw := s.kept(); raw != nil {
				if r.lists == nil {
					r.lists = map[string][]json.RawMessage{}
				}
				if r.opaqueBytes += len(raw); r.opaqueBytes > maxOpaqueBytes {
					r.check(fmt.Errorf("%w: its reasoning has over %d KiB", errTooMuch, maxOpaqueBytes>>10))
					return
				}
				r.begun = true
				r.lists[name] = append(r.lists[name], raw)
			}
		})
	case '{':
		if r.values == nil {
			r.values = map[string]json.RawMessage{}
		}
		if raw := s.kept(); raw != nil && len(raw) <= maxTextBytes {
			r.values[name] = raw
		}
	default:
		s.skip()
	}
}

// call reads a piece of a call.
func (r *chatReader) call(s *scanner) {
	start, index, numbered, id, extra := *s, 0, false, "", false
	s.fields(func(key []byte) {
		switch string(key) {
		case "index":
			if c := s.peek(); c >= '0' && c <= '9' {
				index, numbered = s.number(), true
			}
		case "id":
			id = s.str()
		case "extra_content", "provider_specific_fields":
			extra = true
		}
	})
	end := *s
	*s = start
	call := r.callFor(index, numbered, id)
	s.fields(func(key []byte) {
		if string(key) == "function" {
			r.function(s, call)
		}
	})
	if *s = start; extra && call != nil {
		r.callOpaque(s, call)
	}
	*s = end
}

// callOpaque takes over the opaque fields of a call, such as Gemini's thought signature.
func (r *chatReader) callOpaque(s *scanner, call *partialCall) {
	at := 0
	for i, c := range r.calls {
		if c == call {
			at = i + 1
		}
	}
	s.fields(func(key []byte) {
		if name := string(key); opaqueFields[name] && s.peek() == '{' {
			r.check(r.keep(OpaquePart{At: at, Name: name, Raw: string(s.kept())}))
		}
	})
}

// callFor is the call that a piece belongs to: that of its index. Servers that don't number
// calls, or number all alike, give each an id of its own.
func (r *chatReader) callFor(index int, numbered bool, id string) *partialCall {
	if !numbered {
		index = len(r.calls) - 1
		if id != "" || index < 0 {
			index = len(r.calls)
		}
	}
	call := r.byIndex[index]
	if call == nil || id != "" && call.id != "" && call.id != id {
		var err error
		if call, err = r.newCall(id, ""); err != nil {
			r.check(err)
			return nil
		}
		if r.byIndex == nil {
			r.byIndex = map[int]*partialCall{}
		}
		r.byIndex[index] = call
	}
	if call.id == "" {
		call.id = id
	}
	return call
}

// function reads the name and a piece of the arguments. They are an object with some
// servers (https://github.com/ggml-org/llama.cpp/issues/20198).
func (r *chatReader) function(s *scanner, call *partialCall) {
	if call == nil {
		s.skip()
		return
	}
	s.fields(func(key []byte) {
		switch string(key) {
		case "name":
			if name := s.str(); call.name == "" {
				call.name = name
			}
		case "arguments":
			switch s.peek() {
			case '"':
				from := s.at + 1
				r.check(call.add(r.piece(s)))
				r.pieces++
				r.like.call, r.like.before, r.like.span = call, from, s.at-1-from
			case '{':
				r.check(call.add(s.raw()))
				r.pieces = 2 // the form has no place for it
			default:
				s.skip()
			}
		}
	})
}

// finishOpaque puts the opaque fields of the message together.
func (r *chatReader) finishOpaque() error {
	for _, name := range []string{"reasoning", "reasoning_content"} {
		if b := r.words[name]; b != nil {
			raw, err := quoted(b.String())
			if err != nil {
				return err
			}
			if err := r.keep(OpaquePart{Name: name, Raw: string(raw)}); err != nil {
				return err
			}
		}
	}
	for _, name := range []string{"reasoning_details", "thinking_blocks"} {
		if list := mergedDetails(r.lists[name]); len(list) > 0 {
			raw, err := json.Marshal(list)
			if err != nil {
				return err
			}
			r.opaque = append(r.opaque, OpaquePart{Name: name, Raw: string(raw)})
		}
	}
	for _, name := range []string{"extra_content", "provider_specific_fields"} {
		if err := r.keep(OpaquePart{Name: name, Raw: string(r.values[name])}); err != nil {
			return err
		}
	}
	if r.thinking.Len() > 0 {
		raw, err := json.Marshal(map[string]any{"type": "thinking",
			"thinking": []any{map[string]any{"type": "text", "text": r.thinking.String()}}})
		if err != nil {
			return err
		}
		return r.keep(OpaquePart{Name: "content", Raw: string(raw)})
	}
	return nil
}

// quoted is a text as JSON, with its characters as they are.
func quoted(text string) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// mergedDetails joins the pieces of details that were streamed: those that follow one
// another with the same kind and index are one
// (https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks).
func mergedDetails(pieces []json.RawMessage) (list []map[string]any) {
	texts := map[string]*strings.Builder{} // of the last detail
	closeLast := func() {
		for k, b := range texts {
			list[len(list)-1][k] = b.String()
		}
		clear(texts)
	}
	for _, raw := range pieces {
		var d map[string]any
		if json.Unmarshal(raw, &d) != nil {
			continue
		}
		index, indexed := d["index"]
		if n := len(list); n == 0 || !indexed || list[n-1]["index"] != index || list[n-1]["type"] != d["type"] {
			if n > 0 {
				closeLast()
			}
			list = append(list, map[string]any{})
		}
		last := list[len(list)-1]
		for k, v := range d {
			text, is := v.(string)
			switch {
			case is && (k == "text" || k == "summary" || k == "data" || k == "thinking"):
				if texts[k] == nil {
					texts[k] = &strings.Builder{}
				}
				texts[k].WriteString(text)
			case v != nil || last[k] == nil:
				last[k] = v
			}
		}
	}
	if len(list) > 0 {
		closeLast()
	}
	return list
}

// chatUsage reads the tokens that an endpoint counted; ok is false when it counted none.
// What is cached has several names: OpenAI's and OpenRouter's, DeepSeek's, Moonshot's, and
// Anthropic's through LiteLLM. Reasoning that xAI and Gemini count beside the output is
// output (https://docs.x.ai/docs/guides/reasoning).
func chatUsage(s *scanner) (u Usage, ok bool) {
	total, completion := 0, 0
	s.fields(func(key []byte) {
		switch string(key) {
		case "prompt_tokens":
			u.Input = s.number()
		case "completion_tokens":
			completion = s.number()
		case "total_tokens":
			total = s.number()
		case "prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens":
			u.CachedInput = max(u.CachedInput, s.number())
		case "cache_creation_input_tokens", "cache_write_tokens":
			u.CacheWrite = max(u.CacheWrite, s.number())
		case "prompt_tokens_details":
			s.fields(func(key []byte) {
				switch string(key) {
				case "cached_tokens":
					u.CachedInput = max(u.CachedInput, s.number())
				case "cache_write_tokens", "cache_creation_tokens":
					u.CacheWrite = max(u.CacheWrite, s.number())
				}
			})
		}
	})
	u.Input, u.Output = max(0, u.Input), max(0, completion, total-max(0, u.Input))
	return u.sane(), u.Input > 0
}

// sane is u with no more cached than there is.
func (u Usage) sane() Usage {
	u.Input, u.Output = max(0, u.Input), max(0, u.Output)
	u.CachedInput = min(max(0, u.CachedInput), u.Input)
	u.CacheWrite = min(max(0, u.CacheWrite), u.Input-u.CachedInput)
	return u
}

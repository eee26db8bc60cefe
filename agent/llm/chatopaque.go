package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// opaqueFields are the fields of a message that are opaque: DeepSeek's and vLLM's, Ollama's
// and OpenRouter's, Copilot's, OpenRouter's, Gemini's, and LiteLLM's.
var opaqueFields = map[string]bool{"reasoning_content": true, "reasoning": true, "reasoning_text": true,
	"reasoning_details": true, "extra_content": true, "thinking_blocks": true, "provider_specific_fields": true}

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

// finishOpaque puts the opaque fields of the message together.
func (r *chatReader) finishOpaque() error {
	if err := r.takeThink(); err != nil {
		return err
	}
	for _, name := range []string{"reasoning", "reasoning_content", "reasoning_text"} {
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
		return r.keep(OpaquePart{Name: opaqueContent, Raw: string(raw)})
	}
	return nil
}

// takeThink takes what a model thought out of its words, where the server leaves it there. The
// beginning may be missing: it stands in the prompt of some models
// (https://github.com/MiniMax-AI/MiniMax-M2). An object or a block of code is no thought: the mark
// stands within it.
func (r *chatReader) takeThink() error {
	const begin, end = "<think>", "</think>"
	text := r.text.String()
	at, first := strings.Index(text, end), strings.Index(text, begin)
	said := strings.TrimSpace(text)
	switch {
	case first >= 0 && strings.TrimSpace(text[:first]) != "", at < 0 && first < 0, at >= 0 && first > at,
		first < 0 && (strings.HasPrefix(said, "{") || strings.HasPrefix(said, "```")):
		return nil
	case at < 0: // it was cut off in its thought
		at = len(text)
	default:
		at += len(end)
	}
	for at < len(text) && (text[at] == '\n' || text[at] == ' ') {
		at++
	}
	raw, err := quoted(text[:at])
	if err != nil {
		return err
	}
	r.text.Reset()
	r.thought += at
	if err := r.addText([]byte(text[at:])); err != nil {
		return err
	}
	return r.keep(OpaquePart{Name: opaqueThink, Raw: string(raw)})
}

// unquoted is the text that quoted made JSON of.
func unquoted(raw string) (text string) {
	if json.Unmarshal([]byte(raw), &text) != nil {
		return ""
	}
	return text
}

// quoted is a text as JSON, with its characters as they are.
func quoted(text string) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(wellFormed(text)); err != nil {
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
		if n := len(list); n == 0 || !indexed || !reflect.DeepEqual(list[n-1]["index"], index) ||
			!reflect.DeepEqual(list[n-1]["type"], d["type"]) {
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

package llm

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// chatOpaque are the fields of a message that are opaque: DeepSeek's and vLLM's, Ollama's and OpenRouter's, Copilot's,
// OpenRouter's, and LiteLLM's.
type chatOpaque struct {
	ReasoningContent wireText          `json:"reasoning_content"`
	Reasoning        wireText          `json:"reasoning"`
	ReasoningText    wireText          `json:"reasoning_text"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details"`
	ThinkingBlocks   []json.RawMessage `json:"thinking_blocks"`
	chatExtra
}

// chatExtra are objects that are opaque, of a message or of a call: Gemini's, and LiteLLM's.
type chatExtra struct {
	ExtraContent json.RawMessage `json:"extra_content"`
	Specific     json.RawMessage `json:"provider_specific_fields"`
}

// parts are the objects, of the message or, with at, of one of its calls.
func (e chatExtra) parts(at int) (parts []OpaquePart) {
	for _, p := range []OpaquePart{{At: at, Name: "extra_content", Raw: string(e.ExtraContent)},
		{At: at, Name: "provider_specific_fields", Raw: string(e.Specific)}} {
		if strings.HasPrefix(p.Raw, "{") {
			parts = append(parts, p)
		}
	}
	return parts
}

// The names of opaque fields that are texts, which come in pieces, and of those that are lists.
var (
	opaqueTexts = [...]string{"reasoning", "reasoning_content", "reasoning_text"}
	opaqueLists = [...]string{"reasoning_details", "thinking_blocks"}
)

// takeOpaque takes over pieces of the opaque fields of a message.
func (r *chatReader) takeOpaque(o chatOpaque) error {
	for i, piece := range [len(opaqueTexts)]wireText{o.Reasoning, o.ReasoningContent, o.ReasoningText} {
		if err := r.think(&r.texts[i], piece); err != nil {
			return err
		}
	}
	for i, pieces := range [len(opaqueLists)][]json.RawMessage{o.ReasoningDetails, o.ThinkingBlocks} {
		for _, p := range pieces {
			if r.opaqueBytes += len(p); r.opaqueBytes > maxOpaqueBytes {
				return errMuchReasoning
			}
			r.begun = true
			r.lists[i] = append(r.lists[i], p)
		}
	}
	if isSet(o.ExtraContent) {
		r.extra.ExtraContent = o.ExtraContent
	}
	if isSet(o.Specific) {
		r.extra.Specific = o.Specific
	}
	return nil
}

// finishOpaque puts the opaque fields of the message together.
func (r *chatReader) finishOpaque() error {
	parts := append(r.extra.parts(0), r.takeThink())
	for i, name := range opaqueTexts {
		if text := r.texts[i].String(); text != "" {
			parts = append(parts, OpaquePart{Name: name, Raw: marshaled(wellFormed(text))})
		}
	}
	for i, name := range opaqueLists {
		if list := mergedDetails(r.lists[i]); len(list) > 0 {
			r.opaque = append(r.opaque, OpaquePart{Name: name, Raw: marshaled(list)}) // counted as it came
		}
	}
	if r.thinking.Len() > 0 {
		parts = append(parts, OpaquePart{Name: opaqueContent, Raw: marshaled(map[string]any{"type": "thinking",
			"thinking": []any{map[string]any{"type": "text", "text": r.thinking.String()}}})})
	}
	return r.keep(parts...)
}

// takeThink takes what a model thought out of its words, where the server leaves it there. The
// beginning may be missing: it stands in the prompt of some models
// (https://github.com/MiniMax-AI/MiniMax-M2). An object or a block of code is no thought: the mark
// stands within it.
func (r *chatReader) takeThink() (p OpaquePart) {
	const begin, end = "<think>", "</think>"
	text := r.text.String()
	at, first := strings.Index(text, end), strings.Index(text, begin)
	said := strings.TrimSpace(text)
	switch {
	case first >= 0 && strings.TrimSpace(text[:first]) != "", at < 0 && first < 0, at >= 0 && first > at,
		first < 0 && (strings.HasPrefix(said, "{") || strings.HasPrefix(said, "```")):
		return p
	case at < 0: // it was cut off in its thought
		at = len(text)
	default:
		at += len(end)
	}
	for at < len(text) && (text[at] == '\n' || text[at] == ' ') {
		at++
	}
	r.text.Reset()
	r.text.WriteString(text[at:])
	r.thought += at
	return OpaquePart{Name: opaqueThink, Raw: marshaled(wellFormed(text[:at]))}
}

// unquoted is the text that marshaled made JSON of.
func unquoted(raw string) (text string) {
	if json.Unmarshal([]byte(raw), &text) != nil {
		return ""
	}
	return text
}

// marshaled is JSON of a value that has nothing but what JSON has, with its characters as they are.
func marshaled(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
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
		if json.Unmarshal(raw, &d) != nil || d == nil {
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

package llm

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// chatOpaque holds the opaque fields of a message, of DeepSeek and vLLM, Ollama and OpenRouter, Copilot, OpenRouter,
// and LiteLLM.
type chatOpaque struct {
	ReasoningContent wireText          `json:"reasoning_content"`
	Reasoning        wireText          `json:"reasoning"`
	ReasoningText    wireText          `json:"reasoning_text"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details"`
	ThinkingBlocks   []json.RawMessage `json:"thinking_blocks"`
	chatExtra
}

// chatExtra holds opaque objects of a message or of a call, of Gemini and LiteLLM.
type chatExtra struct {
	ExtraContent json.RawMessage `json:"extra_content"`
	Specific     json.RawMessage `json:"provider_specific_fields"`
}

// parts returns the objects as parts: of the message if at is 0, else of its call number at.
func (e chatExtra) parts(at int) (parts []OpaquePart) {
	for _, p := range []OpaquePart{{At: at, Name: "extra_content", Raw: string(e.ExtraContent)},
		{At: at, Name: "provider_specific_fields", Raw: string(e.Specific)}} {
		if strings.HasPrefix(p.Raw, "{") {
			parts = append(parts, p)
		}
	}
	return parts
}

// Names of opaque fields that are streamed texts, and of those that are lists.
var (
	opaqueTexts = [...]string{"reasoning", "reasoning_content", "reasoning_text"}
	opaqueLists = [...]string{"reasoning_details", "thinking_blocks"}
)

// addOpaqueFields adds pieces of the opaque fields of a message.
func (r *chatReader) addOpaqueFields(o chatOpaque) error {
	for i, piece := range [len(opaqueTexts)]wireText{o.Reasoning, o.ReasoningContent, o.ReasoningText} {
		if err := r.addReasoning(&r.texts[i], piece); err != nil {
			return err
		}
	}
	for i, pieces := range [len(opaqueLists)][]json.RawMessage{o.ReasoningDetails, o.ThinkingBlocks} {
		for _, p := range pieces {
			if r.opaqueBytes += len(p); r.opaqueBytes > maxOpaqueBytes {
				return errReasoningTooLarge
			}
			r.started = true
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

// finishOpaque assembles the opaque fields of the message.
func (r *chatReader) finishOpaque() error {
	parts := append(r.extra.parts(0), r.extractThink())
	for i, name := range opaqueTexts {
		if text := r.texts[i].String(); text != "" {
			parts = append(parts, OpaquePart{Name: name, Raw: marshal(joinSurrogates(text))})
		}
	}
	for i, name := range opaqueLists {
		if list := mergeDetails(r.lists[i]); len(list) > 0 {
			r.opaque = append(r.opaque, OpaquePart{Name: name, Raw: marshal(list)}) // size already counted
		}
	}
	if r.thinking.Len() > 0 {
		parts = append(parts, OpaquePart{Name: opaqueContent, Raw: marshal(map[string]any{"type": "thinking",
			"thinking": []any{map[string]any{"type": "text", "text": r.thinking.String()}}})})
	}
	return r.addOpaque(parts...)
}

// extractThink removes the model's reasoning from its text if the server leaves it there. The opening tag may be
// missing: for some models it is in the prompt (https://github.com/MiniMax-AI/MiniMax-M2). Text that begins with an
// object or a code block is not reasoning: the tag is part of it.
func (r *chatReader) extractThink() (p OpaquePart) {
	const begin, end = "<think>", "</think>"
	text := r.text.String()
	at, first := strings.Index(text, end), strings.Index(text, begin)
	trimmed := strings.TrimSpace(text)
	switch {
	case first >= 0 && strings.TrimSpace(text[:first]) != "", at < 0 && first < 0, at >= 0 && first > at,
		first < 0 && (strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "```")):
		return p
	case at < 0: // cut off while thinking
		at = len(text)
	default:
		at += len(end)
	}
	for at < len(text) && (text[at] == '\n' || text[at] == ' ') {
		at++
	}
	r.text.Reset()
	r.text.WriteString(text[at:])
	r.reasoningBytes += at
	return OpaquePart{Name: opaqueThink, Raw: marshal(joinSurrogates(text[:at]))}
}

// unquote returns the text that marshal encoded.
func unquote(raw string) (text string) {
	if json.Unmarshal([]byte(raw), &text) != nil {
		return ""
	}
	return text
}

// marshal returns v as JSON, without escaping HTML characters. It panics on values that JSON can't represent.
func marshal(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// mergeDetails joins the streamed pieces of details: consecutive pieces of the same type and index are one detail
// (https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks).
func mergeDetails(pieces []json.RawMessage) (list []map[string]any) {
	texts := map[string]*strings.Builder{} // texts of the last detail
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

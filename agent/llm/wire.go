package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// errNotProtocol says that what came is not the JSON of the protocol.
var errNotProtocol = errors.New("the answer is not the JSON of the protocol")

// errPage is a page in the place of an answer. A gateway may show one for a moment; one that comes twice is what is
// at the address.
var errPage = fmt.Errorf("%w", errNotProtocol)

// decodeWire reads an object of a protocol. A value of another kind than asked for is passed over, so that a null or a
// list where a text was expected does no harm.
func decodeWire(data []byte, into any) error {
	var kind *json.UnmarshalTypeError
	err := json.Unmarshal(data, into)
	if err != nil && !errors.As(err, &kind) || !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		return errNotProtocol
	}
	return nil
}

// isSet reports whether a field is there and not empty.
func isSet(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null" && string(raw) != "[]"
}

// wireText is a text, where half a character may stand for wellFormed.
type wireText []byte

// UnmarshalJSON passes over what is no string.
func (t *wireText) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		*t = appendUnquoted(make([]byte, 0, len(b)), b[1:len(b)-1])
	}
	return nil
}

// wireArguments are a call's arguments: the text of an object, or with some servers the object
// (https://github.com/ggml-org/llama.cpp/issues/20198).
type wireArguments []byte

// UnmarshalJSON passes over what is neither.
func (a *wireArguments) UnmarshalJSON(b []byte) error {
	if b[0] == '{' {
		*a = bytes.Clone(b)
		return nil
	}
	return (*wireText)(a).UnmarshalJSON(b)
}

// wireNumber is a number, also one in quotes; 0 for another value.
type wireNumber int

// UnmarshalJSON passes over what is no number.
func (n *wireNumber) UnmarshalJSON(b []byte) error {
	if f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64); err == nil && math.Abs(f) <= 1e15 {
		*n = wireNumber(f)
	}
	return nil
}

// wireUsage is the tokens that an endpoint counted, in any of the dialects.
type wireUsage struct {
	Prompt     wireNumber `json:"prompt_tokens"`
	Completion wireNumber `json:"completion_tokens"`
	Input      wireNumber `json:"input_tokens"`
	Output     wireNumber `json:"output_tokens"`
	Total      wireNumber `json:"total_tokens"`
	wireCached
	PromptDetails     wireCached   `json:"prompt_tokens_details"`
	InputDetails      wireCached   `json:"input_tokens_details"`
	CompletionDetails wireThinking `json:"completion_tokens_details"`
	OutputDetails     wireThinking `json:"output_tokens_details"`
}

// wireThinking is the part of an output that is reasoning, which some count nowhere else
// (https://github.com/router-for-me/CLIProxyAPI/issues/5733).
type wireThinking struct {
	Reasoning wireNumber `json:"reasoning_tokens"`
}

// wireCached is what is cached of a prompt. It has several names: OpenAI's and OpenRouter's, DeepSeek's, Moonshot's,
// and Anthropic's, also through LiteLLM.
type wireCached struct {
	Cached        wireNumber `json:"cached_tokens"`
	CacheHit      wireNumber `json:"prompt_cache_hit_tokens"`
	CacheRead     wireNumber `json:"cache_read_input_tokens"`
	CacheWrite    wireNumber `json:"cache_write_tokens"`
	CacheCreation wireNumber `json:"cache_creation_tokens"`
	CacheCreated  wireNumber `json:"cache_creation_input_tokens"`
}

// tokens is the usage as it was counted. Reasoning that xAI and Gemini count beside the output of chat completions is
// output (https://docs.x.ai/docs/guides/reasoning).
func (w wireUsage) tokens() (u Usage) {
	u.Input = int(w.Input)
	u.Output = int(max(w.Completion, w.Output, w.CompletionDetails.Reasoning, w.OutputDetails.Reasoning))
	if w.Prompt > 0 {
		u.Input, u.Output = int(w.Prompt), max(u.Output, int(w.Total-w.Prompt))
	}
	for _, c := range []wireCached{w.wireCached, w.PromptDetails, w.InputDetails} {
		u.CachedInput = max(u.CachedInput, int(max(c.Cached, c.CacheHit, c.CacheRead)))
		u.CacheWrite = max(u.CacheWrite, int(max(c.CacheWrite, c.CacheCreation, c.CacheCreated)))
	}
	return u
}

// sane is u with no more cached than there is.
func (u Usage) sane() Usage {
	u.Input, u.Output = max(0, u.Input), max(0, u.Output)
	u.CachedInput = min(max(0, u.CachedInput), u.Input)
	u.CacheWrite = min(max(0, u.CacheWrite), u.Input-u.CachedInput)
	return u
}

// appendUnquoted appends what a string literal, without its quotes, says. Half a surrogate pair
// is three bytes that wellFormed knows: the other half may begin the next piece of a text.
func appendUnquoted(dst, lit []byte) []byte {
	for {
		i := bytes.IndexByte(lit, '\\')
		if i < 0 || i+1 >= len(lit) {
			return append(dst, lit...)
		}
		dst = append(dst, lit[:i]...)
		c := lit[i+1]
		lit = lit[i+2:]
		switch c {
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'u':
			r, n := unquotedRune(lit)
			if lit = lit[n:]; utf16.IsSurrogate(r) {
				dst = append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
				continue
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
}

// unquotedRune is the character of the four hexadecimal digits that lit begins with, and of
// the second half of a pair that may follow; n is how many bytes they are.
func unquotedRune(lit []byte) (r rune, n int) {
	hex := func(b []byte) rune {
		if len(b) < 4 {
			return -1
		}
		v, err := strconv.ParseUint(string(b[:4]), 16, 32)
		if err != nil {
			return -1
		}
		return rune(v)
	}
	r = hex(lit)
	switch {
	case r < 0:
		return utf8.RuneError, 0
	case !utf16.IsSurrogate(r):
		return r, 4
	}
	if len(lit) >= 10 && lit[4] == '\\' && lit[5] == 'u' {
		if pair := utf16.DecodeRune(r, hex(lit[6:])); pair != utf8.RuneError {
			return pair, 10
		}
	}
	return r, 4
}

// wellFormed joins the halves of surrogate pairs that came in different pieces, as servers send
// them that cut texts of UTF-16 (https://github.com/openclaw/openclaw/pull/110642). A half
// without the other becomes U+FFFD.
func wellFormed(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(text, 0xed)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		text = text[i:]
		r := halfPair(text)
		if r == 0 {
			b.WriteByte(text[0])
			text = text[1:]
			continue
		}
		text = text[3:]
		if r = utf16.DecodeRune(r, halfPair(text)); r != utf8.RuneError {
			text = text[3:]
		}
		b.WriteRune(r)
	}
}

// halfPair is half of a surrogate pair that a text begins with; 0 where it begins with none.
func halfPair(text string) rune {
	if len(text) < 3 || text[0] != 0xed || text[1] < 0xa0 {
		return 0
	}
	return 0xd000 | rune(text[1]&0x3f)<<6 | rune(text[2]&0x3f)
}

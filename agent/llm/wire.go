package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sia-bot/sia/agent/llm/usage"
)

// errNotProtocol means that the answer is not JSON of the protocol.
var errNotProtocol = errors.New("the answer is not the JSON of the protocol")

// errPage means that the answer is an HTML page. A gateway may return one temporarily; a second one is permanent.
var errPage = fmt.Errorf("%w", errNotProtocol)

// decodeWire decodes an object of a protocol. It ignores values of an unexpected type, such as null or a list instead
// of a string.
func decodeWire(data []byte, into any) error {
	var kind *json.UnmarshalTypeError
	err := json.Unmarshal(data, into)
	if err != nil && !errors.As(err, &kind) || !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		return errNotProtocol
	}
	return nil
}

// isSet reports whether a field is present and not empty.
func isSet(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null" && string(raw) != "[]"
}

// wireText is a string, possibly with unpaired surrogates in the encoding of joinSurrogates.
type wireText []byte

// UnmarshalJSON ignores values other than strings.
func (t *wireText) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		*t = appendUnquoted(make([]byte, 0, len(b)), b[1:len(b)-1])
	}
	return nil
}

// wireArguments are a call's arguments: a string with an object, or with some servers the object
// (https://github.com/ggml-org/llama.cpp/issues/20198).
type wireArguments []byte

// UnmarshalJSON ignores values of other types.
func (a *wireArguments) UnmarshalJSON(b []byte) error {
	if b[0] == '{' {
		*a = bytes.Clone(b)
		return nil
	}
	return (*wireText)(a).UnmarshalJSON(b)
}

// wireNumber is a number, possibly in quotes; 0 for other values.
type wireNumber = usage.Number

// appendUnquoted appends the value of a string literal without its quotes. An unpaired surrogate becomes three bytes
// that joinSurrogates decodes: the other half may be at the start of the next piece.
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

// unquotedRune decodes the four hexadecimal digits at the start of lit, and the second half of a surrogate pair if that
// follows; n is their length in bytes.
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

// joinSurrogates joins the halves of surrogate pairs that arrived in different pieces, from servers that cut UTF-16
// texts (https://github.com/openclaw/openclaw/pull/110642). An unpaired half becomes U+FFFD.
func joinSurrogates(text string) string {
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
		r := surrogateHalf(text)
		if r == 0 {
			b.WriteByte(text[0])
			text = text[1:]
			continue
		}
		text = text[3:]
		if r = utf16.DecodeRune(r, surrogateHalf(text)); r != utf8.RuneError {
			text = text[3:]
		}
		b.WriteRune(r)
	}
}

// surrogateHalf decodes the unpaired surrogate at the start of a text; 0: there is none.
func surrogateHalf(text string) rune {
	if len(text) < 3 || text[0] != 0xed || text[1] < 0xa0 {
		return 0
	}
	return 0xd000 | rune(text[1]&0x3f)<<6 | rune(text[2]&0x3f)
}

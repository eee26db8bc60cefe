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
)

// errNotProtocol says that what came is not the JSON of the protocol.
var errNotProtocol = errors.New("the answer is not the JSON of the protocol")

// errPage is a page in the place of an answer. A gateway may show one for a moment; one that comes twice is what is
// at the address.
var errPage = fmt.Errorf("%w", errNotProtocol)

// maxDepth bounds how deep the JSON of an answer is nested.
const maxDepth = 64

// scanner walks through one JSON value and takes from it what is asked for, without
// making anything of the rest. A stream of half a megabyte in pieces of four bytes is a
// hundred thousand values; encoding/json allocates several times for each.
//
// It is lenient about what it passes over. A value of another kind than asked for is
// passed over too, so that a null or a list where a text was expected does no harm. bad
// is set where the text can't be JSON.
type scanner struct {
	b     []byte
	at    int
	depth int
	bad   bool
}

// peek is the first byte of the next value; 0 at the end.
func (s *scanner) peek() byte {
	if s.at < len(s.b) && s.b[s.at] > ' ' {
		return s.b[s.at]
	}
	return s.peekBeyondSpace()
}

func (s *scanner) peekBeyondSpace() byte {
	for s.at < len(s.b) {
		switch c := s.b[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// take passes over c if it comes next.
func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

// fields calls f for each field of an object, with s at the field's value; what f does not
// read is passed over. Another value is passed over whole.
func (s *scanner) fields(f func(key []byte)) { s.container('{', '}', f, nil) }

// items calls f for each value of a list, as fields does.
func (s *scanner) items(f func(n int)) { s.container('[', ']', nil, f) }

func (s *scanner) container(open, end byte, field func([]byte), item func(int)) {
	if s.peek() != open {
		s.skip()
		return
	}
	if s.depth++; s.depth > maxDepth {
		s.bad, s.at = true, len(s.b)
		return
	}
	s.at++
	for n := 0; !s.take(end); n++ {
		if s.bad || n > 0 && !s.take(',') {
			s.bad = true
			break
		}
		var key []byte
		if field != nil {
			if s.peek() != '"' {
				s.bad = true
				break
			}
			key = s.literal()
			if !s.take(':') {
				s.bad = true
				break
			}
		}
		s.peek()
		before := s.at
		if field != nil {
			field(key)
		} else {
			item(n)
		}
		if s.at == before {
			s.skip()
		}
	}
	s.depth--
}

// literal passes over a string and returns what stands between its quotes.
func (s *scanner) literal() []byte {
	from := s.at + 1
	if n := bytes.IndexByte(s.b[from:], '"'); n >= 0 && bytes.IndexByte(s.b[from:from+n], '\\') < 0 {
		s.at = from + n + 1
		return s.b[from : from+n]
	}
	for i := from; i < len(s.b); i++ {
		switch s.b[i] {
		case '\\':
			i++
		case '"':
			s.at = i + 1
			return s.b[from:i]
		}
	}
	s.bad, s.at = true, len(s.b)
	return nil
}

// skip passes over a value.
func (s *scanner) skip() { s.raw() }

// raw passes over a value and returns it.
func (s *scanner) raw() []byte {
	first := s.peek()
	from := s.at
	switch first {
	case '"':
		s.literal()
	case '{', '[':
		for depth := 0; ; {
			if s.at >= len(s.b) {
				s.bad = true
				return nil
			}
			switch s.b[s.at] {
			case '"':
				if s.literal(); s.bad {
					return nil
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			s.at++
			if depth == 0 {
				break
			}
			if depth > maxDepth {
				s.bad, s.at = true, len(s.b)
				return nil
			}
		}
	default:
		for s.at < len(s.b) && isLiteralByte(s.b[s.at]) {
			s.at++
		}
		if s.at == from {
			s.bad, s.at = true, len(s.b)
		}
	}
	return s.b[from:s.at]
}

// isLiteralByte reports whether c can stand in a number or in true, false and null.
func isLiteralByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.'
}

// text appends a string's text to dst, where half a character may stand for wellFormed; a value
// that is no string is passed over.
func (s *scanner) text(dst []byte) []byte {
	if s.peek() != '"' {
		s.skip()
		return dst
	}
	return appendUnquoted(dst, s.literal())
}

// str is a string's text; "" for another value.
func (s *scanner) str() string {
	if s.peek() != '"' {
		s.skip()
		return ""
	}
	lit := s.literal()
	if bytes.IndexByte(lit, '\\') < 0 {
		return string(lit)
	}
	return wellFormed(string(appendUnquoted(nil, lit)))
}

// word is what stands between a string's quotes, valid as long as the text is; nil for
// another value. It is for words that have nothing escaped, such as the names of events.
func (s *scanner) word() []byte {
	if s.peek() != '"' {
		s.skip()
		return nil
	}
	return s.literal()
}

// number is a number, also one in quotes; 0 for another value.
func (s *scanner) number() int {
	raw := bytes.Trim(s.raw(), `"`)
	if n, err := strconv.Atoi(string(raw)); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f > 1e15 || f < -1e15 {
		return 0
	}
	return int(f)
}

// kept is a copy of a value as it stands; nil where it is not valid JSON, or null.
func (s *scanner) kept() json.RawMessage {
	raw := s.raw()
	if string(raw) == "null" || !json.Valid(raw) {
		return nil
	}
	return bytes.Clone(raw)
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

package llm

import "bytes"

// eventForm is an event without the piece of arguments in it. Most of a long call arrives in thousands of events that
// differ only in that piece and in their number; events of the same form are not decoded again.
type eventForm struct {
	call       *partialCall
	head, tail []byte
	after      []byte // part of the head after the event's number; nil: no number
	buf        []byte
}

// The number of OpenAI's events, and the padding that hides the length of their pieces.
var (
	sequenceNumber = []byte(`"sequence_number":`)
	obfuscation    = []byte(`"obfuscation":"`)
)

// remember stores the form of an event in which only field is significant: a piece of call's arguments.
func (f *eventForm) remember(data []byte, field string, call *partialCall) {
	f.call = nil
	_, rest, _ := bytes.Cut(data, []byte(`"`+field+`"`))
	rest = bytes.TrimLeft(rest, ": ")
	if len(rest) == 0 || rest[0] != '"' {
		return
	}
	n := literalLength(rest[1:])
	if n < 0 {
		return
	}
	f.call, f.after = call, nil
	f.head = append(f.head[:0], data[:len(data)-len(rest)+1]...)
	f.tail = append(f.tail[:0], withoutPadding(rest[1+n:])...)
	if i := bytes.Index(f.head, sequenceNumber); i >= 0 {
		rest := f.head[i+len(sequenceNumber):]
		f.head, f.after = f.head[:len(f.head)-len(rest)], bytes.TrimLeft(rest, "0123456789")
	}
}

// consume adds the piece of arguments if the event has this form; it reports false if not.
func (f *eventForm) consume(data []byte) (bool, error) {
	lit, ok := f.piece(data)
	if !ok {
		return false, nil
	}
	if bytes.IndexByte(lit, '\\') < 0 {
		return true, f.call.add(lit)
	}
	f.buf = appendUnquoted(f.buf[:0], lit)
	return true, f.call.add(f.buf)
}

// withoutPadding returns the end of a chunk up to its padding.
func withoutPadding(tail []byte) []byte {
	if i := bytes.Index(tail, obfuscation); i >= 0 {
		if rest := tail[i+len(obfuscation):]; bytes.IndexByte(rest, '"') == len(rest)-2 {
			return tail[:i+len(obfuscation)]
		}
	}
	return tail
}

// piece returns the piece of arguments in an event of this form.
func (f *eventForm) piece(data []byte) ([]byte, bool) {
	if f.call == nil || f.call.closed || !bytes.HasPrefix(data, f.head) {
		return nil, false
	}
	at := len(f.head)
	if f.after != nil {
		for at < len(data) && data[at] >= '0' && data[at] <= '9' {
			at++
		}
		if !bytes.HasPrefix(data[at:], f.after) {
			return nil, false
		}
		at += len(f.after)
	}
	n := literalLength(data[at:])
	if n < 0 {
		return nil, false
	}
	lit, tail := data[at:at+n], data[at+n:]
	if !bytes.HasPrefix(tail, f.tail) {
		return nil, false
	}
	if rest := tail[len(f.tail):]; len(rest) > 0 && !isPadding(rest) {
		return nil, false
	}
	return lit, true
}

// isPadding reports whether rest is the remaining padding at the end of a chunk.
func isPadding(rest []byte) bool {
	return bytes.HasSuffix(rest, []byte(`"}`)) && bytes.IndexByte(rest, '"') == len(rest)-2 &&
		bytes.IndexByte(rest, '\\') < 0
}

// literalLength returns the length of a string literal after its opening quote, up to the closing quote; -1: unclosed.
func literalLength(b []byte) int {
	if n := bytes.IndexByte(b, '"'); n < 0 || bytes.IndexByte(b[:n], '\\') < 0 {
		return n
	}
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

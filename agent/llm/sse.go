package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Limits of a stream, in bytes.
const (
	maxEventBytes   = 16 << 20 // one event
	maxStreamBytes  = 1 << 30  // all events; the parts of an answer have limits of their own
	maxGarbageBytes = 64 << 10 // lines that are not events
)

// errGarbage means that a stream has no events.
var errGarbage = errors.New("what comes is not the protocol's: no events")

// eventReader reads the data of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). It
// ignores event names, IDs and comments, which gateways use as keep-alives.
type eventReader struct {
	in      *bufio.Reader
	end     byte   // line end: '\n', with an optional '\r' before it, or '\r'
	line    []byte // line longer than the reader's buffer
	data    []byte
	ahead   []byte // first line of the next event, if no empty line preceded it; nil: none
	read    int
	garbage int
}

// nextData returns the data of the next event without line ends. It is valid until the next call. At the end of the
// stream, the error is io.EOF.
//
// llama.cpp sends an error in a field of that name (https://github.com/ggml-org/llama.cpp/pull/16109), Gemini without a
// field (https://github.com/googleapis/js-genai/issues/1973).
func (e *eventReader) nextData() ([]byte, error) {
	e.data = append(e.data[:0], e.ahead...)
	has, looked := e.ahead != nil, false
	e.ahead = nil
	for {
		line, err := e.nextLine()
		text := bytes.TrimRight(line, "\r\n")
		if e.read == len(line) { // the first line may start with a byte order mark
			text = bytes.TrimPrefix(text, []byte("\uFEFF"))
		}
		value, is := bytes.CutPrefix(text, []byte("data:"))
		if !is {
			value, is = bytes.CutPrefix(text, []byte("error:"))
		}
		if !is && len(text) > 0 && text[0] == '{' {
			value, is = text, true
		}
		switch {
		case is && !has && e.endsHere():
			return bytes.TrimPrefix(value, []byte(" ")), nil
		case is && has && !looked && e.begins(value):
			if looked = true; json.Valid(e.data) {
				e.ahead = bytes.Clone(value)
				return e.data, nil
			}
			fallthrough
		case is:
			if has {
				e.data = append(e.data, '\n')
			}
			if e.data, has = append(e.data, bytes.TrimPrefix(value, []byte(" "))...), true; len(e.data) > maxEventBytes {
				return nil, errAnswerTooLarge
			}
		case len(text) == 0 && has && err == nil:
			return e.data, nil
		case len(text) > 0 && !isEventField(text):
			if e.garbage += len(text); e.garbage > maxGarbageBytes {
				return nil, errGarbage
			}
		}
		if err != nil {
			if has && errors.Is(err, io.EOF) && len(bytes.TrimSpace(e.data)) > 0 { // some servers omit the last empty line
				return e.data, nil
			}
			if errors.Is(err, io.EOF) && e.garbage > 0 {
				return nil, errGarbage
			}
			return nil, err
		}
	}
}

// begins reports whether a line looks like the start of an event after a complete one: some servers omit the empty
// lines between events.
func (e *eventReader) begins(line []byte) bool {
	line = bytes.TrimSpace(line)
	return bytes.HasSuffix(e.data, []byte("}")) && (bytes.HasPrefix(line, []byte("{")) || string(line) == "[DONE]")
}

// endsHere reports whether an empty line follows in the buffer, so that the event has a single line, as most have.
func (e *eventReader) endsHere() bool {
	if e.in.Buffered() == 0 {
		return false
	}
	next, err := e.in.Peek(1)
	return err == nil && next[0] == e.end
}

// isEventField reports whether a line is a comment or a field other than data.
func isEventField(line []byte) bool {
	for _, p := range []string{":", "event:", "id:", "retry:"} {
		if bytes.HasPrefix(line, []byte(p)) {
			return true
		}
	}
	return false
}

// nextLine returns the next line with its end, valid until the next call.
func (e *eventReader) nextLine() ([]byte, error) {
	e.line = e.line[:0]
	if e.end == 0 { // some servers end lines with '\r' only (https://github.com/caidaoli/ccLoad/pull/81)
		e.end = '\n'
		begin, _ := e.in.Peek(max(1, e.in.Buffered())) // a read error is returned below
		if i := bytes.IndexByte(begin, '\r'); i >= 0 && i+1 < len(begin) && bytes.IndexByte(begin, '\n') < 0 {
			e.end = '\r'
		}
	}
	for {
		piece, err := e.in.ReadSlice(e.end)
		if e.read += len(piece); e.read > maxStreamBytes {
			return nil, errAnswerTooLarge
		}
		if !errors.Is(err, bufio.ErrBufferFull) && len(e.line) == 0 {
			return piece, err
		}
		if room := cap(e.line) - len(e.line); room < len(piece) {
			e.line = append(make([]byte, 0, 3*cap(e.line)+len(piece)), e.line...)
		}
		if e.line = append(e.line, piece...); !errors.Is(err, bufio.ErrBufferFull) {
			return e.line, err
		}
		if len(e.line) > maxEventBytes {
			return nil, errAnswerTooLarge
		}
		if !bytes.HasPrefix(e.line, []byte("data:")) && len(e.line) > maxGarbageBytes && !isEventField(e.line) {
			return nil, errGarbage
		}
	}
}

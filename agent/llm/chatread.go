package llm

import (
	"encoding/json"
	"strings"
)

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
	pieces   int      // of arguments in the chunk that is read
	last     struct { // of them, and where it stands
		call      *partialCall
		from, end int
	}
}

// volume grows with everything that a chunk adds but arguments.
func (r *chatReader) volume() int {
	return r.text.Len() + r.refusal.Len() + r.thought + r.opaqueBytes + len(r.calls) + r.thinking.Len()
}

func (r *chatReader) got() *answer { return &r.answer }

// event reads one chunk.
func (r *chatReader) event(data []byte) (done bool, err error) {
	before := r.volume()
	r.pieces, r.like.call = 0, nil
	if err := r.read(data); err != nil {
		return false, err
	}
	if r.pieces == 1 && r.volume() == before {
		r.like.remember(data, r.last.call, r.last.from, r.last.end)
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

// end ends the answer.
func (r *chatReader) end() error {
	if r.finish == "" && !r.begun {
		return errBrokenOff
	}
	return r.finishOpaque()
}

// read reads a chunk, or a whole answer.
func (r *chatReader) read(data []byte) error {
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
	failed, choices, message := false, false, false
	s.fields(func(key []byte) {
		switch string(key) {
		case "choices":
			choices = true
			s.items(func(int) { r.choice(s) })
		case "message":
			message = true
		case "usage":
			r.count(s)
		case "error", "errors":
			failed = failed || s.peek() != 'n' && string(s.raw()) != "[]"
		case "object":
			failed = failed || string(s.word()) == "error"
		case "base_resp": // MiniMax's, also of answers that are none of errors
			s.fields(func(key []byte) {
				if string(key) == "status_code" {
					failed = failed || s.number() != 0
				}
			})
		case "provider":
			r.gateway = s.str()
		}
	})
	switch {
	case failed, message && !choices:
		return &saidError{saidIn(data)}
	case r.fault != nil:
		return r.fault
	case s.bad:
		return errNotProtocol
	}
	return nil
}

// count takes over usage. Some servers count in each chunk, and the last count holds.
func (r *chatReader) count(s *scanner) {
	if s.peek() == 'n' {
		s.skip()
	} else if u := readUsage(s).sane(); u.Input > 0 {
		r.usage = &u
	}
}

// choice reads a choice of a chunk, or of a whole answer. More than one is never asked for,
// but Copilot puts each call into one of its own
// (https://github.com/karthink/gptel/pull/1284). Moonshot's usage stands in it. Perplexity
// sends the message so far beside each piece
// (https://github.com/open-webui/open-webui/issues/9927), and some servers end with it.
func (r *chatReader) choice(s *scanner) {
	var delta, message scanner
	first := true
	s.fields(func(key []byte) {
		switch string(key) {
		case "index":
			first = s.number() == 0
		case "finish_reason":
			if f := s.str(); f != "" && failures[r.finish] == "" {
				r.finish = f
			}
		case "native_finish_reason": // OpenRouter's; it alone may say of a failure
			// (https://github.com/OleksandrChekhovskyi/hax/pull/15)
			if f := strings.ToLower(s.str()); failures[f] != "" {
				r.finish = f
			}
		case "delta":
			delta = *s
			s.skip()
		case "message":
			message = *s
			s.skip()
		case "usage":
			r.count(s)
		}
	})
	switch {
	case delta.b != nil:
		r.message(&delta, first)
	case message.b != nil && (!r.begun || !first):
		r.message(&message, first)
	}
}

// message reads a delta or a message; only the first of an answer has its words.
func (r *chatReader) message(s *scanner, first bool) {
	s.fields(func(key []byte) {
		switch string(key) {
		case "content":
			if !first {
				s.skip()
				return
			}
			r.content(s)
		case "refusal":
			r.check(r.addRefusal(r.piece(s)))
		case "tool_calls":
			s.items(func(int) { r.call(s) })
		case "function_call": // of before there were tools
			if s.peek() == '{' {
				r.function(s, r.callOf(callPiece{numbered: true}))
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

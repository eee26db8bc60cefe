package llm

// callPiece is a piece of a call as it stands in a chunk.
type callPiece struct {
	index    int
	numbered bool
	id, name string
}

// call reads a piece of a call.
func (r *chatReader) call(s *scanner) {
	start, p, extra := *s, callPiece{}, false
	s.fields(func(key []byte) {
		switch string(key) {
		case "index":
			if c := s.peek(); c >= '0' && c <= '9' {
				p.index, p.numbered = s.number(), true
			}
		case "id":
			p.id = s.str()
		case "function":
			s.fields(func(key []byte) {
				if string(key) == "name" {
					p.name = s.str()
				}
			})
		case "extra_content", "provider_specific_fields":
			extra = true
		}
	})
	end := *s
	*s = start
	call := r.callOf(p)
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

// callOf is the call that a piece belongs to: that of its index. Servers that don't number
// calls, or number all alike, give each an id of its own, or at least a name. A name that
// comes again for the same call begins none, and neither does an id at another index
// (https://github.com/mudler/LocalAI/issues/9722).
func (r *chatReader) callOf(p callPiece) *partialCall {
	if !p.numbered {
		p.index = len(r.calls) - 1
		if p.id != "" || p.index < 0 {
			p.index = len(r.calls)
		}
	}
	call := r.byIndex[p.index]
	for _, c := range r.calls {
		if call == nil && p.id != "" && c.id == p.id && !p.begins(c) {
			call = c
		}
	}
	if call == nil || p.begins(call) {
		var err error
		if call, err = r.newCall(p.id, ""); err != nil {
			r.check(err)
			return nil
		}
	}
	if r.byIndex == nil {
		r.byIndex = map[int]*partialCall{}
	}
	r.byIndex[p.index] = call
	if call.id == "" {
		call.id = p.id
	}
	return call
}

// begins reports whether a piece begins another call although its index is call's: it has
// another id and a name. Without a name it goes on, since some servers make up an id for
// each piece.
func (p callPiece) begins(call *partialCall) bool {
	switch {
	case p.name == "" || call.name == "":
		return false
	case p.id != "" && call.id != "":
		return p.id != call.id
	}
	return p.name != call.name // two calls of one tool come apart in splitCalls
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
				r.last.call, r.last.from, r.last.end = call, from, s.at-1
			case '{':
				r.check(call.add(s.raw()))
				r.pieces = 2 // the form has no place for it
			default:
				s.skip()
			}
		}
	})
}

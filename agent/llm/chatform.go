package llm

import "bytes"

// chunkForm is a chunk without the piece of arguments that it holds. Most of a long call
// comes in thousands of chunks that differ in that piece alone: what has the same form is
// not read again.
type chunkForm struct {
	call         *partialCall
	head, tail   []byte
	before, span int // where the piece was in the chunk
}

// obfuscation pads OpenAI's chunks to hide how long their pieces are.
var obfuscation = []byte(`"obfuscation":"`)

// remember keeps the form of a chunk.
func (f *chunkForm) remember(data []byte) {
	end := f.before + f.span
	if f.span < 0 || end > len(data) {
		f.call = nil
		return
	}
	f.head, f.tail = append(f.head[:0], data[:f.before]...), append(f.tail[:0], withoutPadding(data[end:])...)
}

// withoutPadding is a chunk's end up to its padding.
func withoutPadding(tail []byte) []byte {
	if i := bytes.Index(tail, obfuscation); i >= 0 {
		if rest := tail[i+len(obfuscation):]; bytes.IndexByte(rest, '"') == len(rest)-2 {
			return tail[:i+len(obfuscation)]
		}
	}
	return tail
}

// piece is the piece of arguments in a chunk of this form.
func (f *chunkForm) piece(data []byte) ([]byte, bool) {
	if f.call == nil || !bytes.HasPrefix(data, f.head) {
		return nil, false
	}
	s := scanner{b: data, at: len(f.head) - 1} // at the quote
	lit := s.literal()
	if s.bad {
		return nil, false
	}
	tail := data[s.at-1:]
	if !bytes.HasPrefix(tail, f.tail) {
		return nil, false
	}
	if rest := tail[len(f.tail):]; len(rest) > 0 && !isPadding(rest) {
		return nil, false
	}
	return lit, true
}

// isPadding reports whether a chunk ends with the rest of a padding and nothing else.
func isPadding(rest []byte) bool {
	return bytes.HasSuffix(rest, []byte(`"}`)) && bytes.IndexByte(rest, '"') == len(rest)-2 &&
		bytes.IndexByte(rest, '\\') < 0
}

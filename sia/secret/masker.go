package secret

import (
	"slices"
	"sync"
)

// Masker masks known values and everything in the shape of a secret. The zero value and a nil Masker have no known
// values. It is safe for concurrent use.
type Masker struct {
	mu    sync.RWMutex
	known *knownValues
	fixed []namedSecret // added by Know
	tail  []namedSecret // added by Passing, the newest last
}

// namedSecret is a secret by value.
type namedSecret struct {
	rule, value string
	forms       []string // encodings of value
}

const (
	// MinKnown is the minimum length of a known value, in bytes. Shorter values occur in ordinary text by chance.
	MinKnown = 8
	// maxPassing is the maximum number of passing values. Installation tokens are valid for an hour, and a server creates
	// a few per minute.
	maxPassing = 256
)

// Know adds a secret of the server, which is then found in every encoding. rule is its name in marks: lower-case
// letters, digits and hyphens. Values that are not [Distinctive] are ignored.
func (m *Masker) Know(rule, value string) { m.add(rule, value, false) }

// Passing is Know for a secret that expires soon, such as a token that is valid for an hour. It is dropped after 256
// newer ones.
func (m *Masker) Passing(rule, value string) { m.add(rule, value, true) }

func (m *Masker) add(rule, value string, passing bool) {
	if !Distinctive(value) {
		return
	}
	v := newNamedSecret(rule, value)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !passing:
		m.fixed = append(m.fixed, v)
	case slices.ContainsFunc(m.tail, func(n namedSecret) bool { return n.value == v.value }):
		return
	default:
		m.tail = append(m.tail[max(0, len(m.tail)-maxPassing+1):], v)
	}
	m.known = newKnownValues(slices.Concat(m.fixed, m.tail))
}

// Find returns the known values and the text in the shape of a secret, in the order of the text and without overlap.
// Marks of [Mask] are not secrets. The time is proportional to the text's length and to the number of names of keys and
// tokens in it.
func (m *Masker) Find(text string) []Finding {
	var out []Finding
	eachPart(text, func(part string, at int, isMark bool) {
		if isMark {
			return
		}
		for _, f := range m.find(part) {
			f.Start, f.End = f.Start+at, f.End+at
			out = append(out, f)
		}
	})
	return out
}

// find returns the findings in a text without marks.
func (m *Masker) find(text string) []Finding {
	var known *knownValues
	if m != nil {
		m.mu.RLock()
		known = m.known
		m.mu.RUnlock()
	}
	out := append(known.find(text), allShapes().find(text)...)
	eachDecoded(text, func(decoded string, at func(int) int) {
		for _, f := range append(known.find(decoded), allShapes().find(decoded)...) {
			if f.Sure { // a guess in encoded text is useless
				f.Start, f.End = at(f.Start), at(f.End)
				out = append(out, f)
			}
		}
	})
	return mergeFindings(out)
}

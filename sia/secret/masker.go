package secret

import (
	"slices"
	"strings"
	"sync"
)

// Masker masks the values that it knows, and everything that has a secret's shape. The zero
// value and a nil Masker know no values. It is safe for concurrent use.
type Masker struct {
	mu    sync.RWMutex
	known *knownValues
	fixed []namedSecret // added by Know
	tail  []namedSecret // added by Passing, the newest last
}

// namedSecret is a secret by value.
type namedSecret struct {
	rule, value string
	forms       []string // of value
}

const (
	// MinKnown is the fewest bytes of a value that can be known. Shorter values stand in ordinary
	// text by chance.
	MinKnown = 8
	// maxPassing is how many passing values are known at once. Installation tokens
	// live an hour, and a server makes a few a minute.
	maxPassing = 256
)

// Know tells the masker a secret of the server's own. From then on it finds the secret in every
// form. rule is the secret's name in marks: lower-case letters, digits and hyphens. Values of less
// than [MinKnown] bytes can't be distinguished from ordinary text and are ignored.
func (m *Masker) Know(rule, value string) {
	if len(strings.TrimSpace(value)) < MinKnown {
		return
	}
	v := newNamedSecret(rule, value)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fixed = append(m.fixed, v)
	m.known = newKnownValues(slices.Concat(m.fixed, m.tail))
}

// Passing is Know for a secret that expires soon, such as a token that lives an hour. The
// masker forgets it after 256 newer ones.
func (m *Masker) Passing(rule, value string) {
	if len(strings.TrimSpace(value)) < MinKnown {
		return
	}
	v := newNamedSecret(rule, value)
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.ContainsFunc(m.tail, func(n namedSecret) bool { return n.value == v.value }) {
		return
	}
	m.tail = append(m.tail[max(0, len(m.tail)-maxPassing+1):], v)
	m.known = newKnownValues(slices.Concat(m.fixed, m.tail))
}

// Find finds what the masker knows and what has the shape of a secret, in the order of the text and
// without overlap. What [Mask] left behind is not a secret. The time it takes grows with the text's
// length, and with how often the text names keys and tokens.
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

// find gives the findings in a text without marks.
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
			if f.Sure { // a guess at what can't be read helps nobody
				f.Start, f.End = at(f.Start), at(f.End)
				out = append(out, f)
			}
		}
	})
	return mergeFindings(out)
}

package secret

import (
	"slices"
	"strings"
	"sync"
)

// Masker masks what it knows by value besides what has a secret's shape. The
// zero value knows no values, and nil never will. It is safe for concurrent use.
type Masker struct {
	mu    sync.RWMutex
	known *values
	fixed []named // told by Know
	tail  []named // told by Passing, the newest last
}

// named is a secret by value.
type named struct {
	rule, value string
	forms       []string // of value
}

const (
	// MinKnown is the fewest bytes of a value that is known: what is shorter
	// stands in ordinary text by chance.
	MinKnown = 8
	// maxPassing is how many passing values are known at once. Installation tokens
	// live an hour, and a server makes a few a minute.
	maxPassing = 256
)

// Know tells the masker a secret of the server's own, which it finds from then
// on in every form. rule is its name in marks: lower-case letters, digits and
// hyphens. Values of less than [MinKnown] bytes can't be told from ordinary text
// and are left.
func (m *Masker) Know(rule, value string) {
	if len(strings.TrimSpace(value)) < MinKnown {
		return
	}
	v := newNamed(rule, value)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fixed = append(m.fixed, v)
	m.known = newValues(slices.Concat(m.fixed, m.tail))
}

// Passing is Know for a secret that is soon worth nothing, such as a token of an
// hour: the masker forgets it when 256 newer ones came.
func (m *Masker) Passing(rule, value string) {
	if len(strings.TrimSpace(value)) < MinKnown {
		return
	}
	v := newNamed(rule, value)
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.ContainsFunc(m.tail, func(n named) bool { return n.value == v.value }) {
		return
	}
	m.tail = append(m.tail[max(0, len(m.tail)-maxPassing+1):], v)
	m.known = newValues(slices.Concat(m.fixed, m.tail))
}

// Find is [Find] with what the masker knows.
func (m *Masker) Find(text string) []Finding {
	var out []Finding
	between(text, func(part string, at int, isMark bool) {
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
	var known *values
	if m != nil {
		m.mu.RLock()
		known = m.known
		m.mu.RUnlock()
	}
	return merge(append(known.find(text), shapes().find(text)...))
}

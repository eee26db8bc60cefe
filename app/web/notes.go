package web

import (
	"crypto/rand"
	"sync"
)

// note is the answer to what somebody did on a page, and the page that they go back to.
type note struct {
	text, back string
	again      *again // instead: the page with what they wrote on it, for it was not taken
}

// again is a page that answers a form.
type again struct {
	status int
	page   string // the template's name
	frame  frame
}

// keptNotes is how many answers are kept until they are read again.
const keptNotes = 256

// notes keeps answers between a form and the page after it. An address holds only a name of an
// answer that nobody can guess, so that no link can put words into a page. Safe for concurrent use.
type notes struct {
	mu    sync.Mutex
	texts map[string]string
	order []string // of the keys, oldest first
}

func newNotes() *notes { return &notes{texts: map[string]string{}} }

func (n *notes) keep(text string) (key string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.order) == keptNotes {
		delete(n.texts, n.order[0])
		n.order = n.order[1:]
	}
	key = rand.Text()
	n.texts[key], n.order = text, append(n.order, key)
	return key
}

// read is the answer of a name; "" when there is none any more.
func (n *notes) read(key string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.texts[key]
}

package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
)

// conversationRestrictions records the conversations with restrictions, so that not every request of such a
// conversation is refused first. It is safe for concurrent use.
type conversationRestrictions struct {
	mu    sync.Mutex
	known map[string]restrictions
}

// restrictions are parts of earlier answers that the endpoint refuses in one conversation. They say nothing about other
// conversations.
type restrictions struct {
	noThinking bool
	// Opaque parts of one answer and of those before it are left out: its fingerprint; everyAnswer: of all answers;
	// "": of none. Later answers keep theirs. Claude's are bound to everything before them, so a shortened conversation
	// invalidates the earlier ones only.
	// https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks
	opaqueUpTo string
}

const everyAnswer = "*"

// dropOpaque leaves out the opaque parts of the answers so far; it reports false if there are none. If they are refused
// again soon after, those of all answers are left out from then on.
func (r *restrictions) dropOpaque(messages []Message) bool {
	const soon = 3       // answers
	last, later := "", 0 // answers after the last one without
	for _, m := range messages {
		if f := m.Opaque.fingerprint(); f != "" {
			last, later = f, later+1
			if f == r.opaqueUpTo {
				later = 0
			}
		}
	}
	switch {
	case later == 0 || r.opaqueUpTo == everyAnswer:
		return false
	case r.opaqueUpTo != "" && later < soon:
		last = everyAnswer
	}
	r.opaqueUpTo = last
	return true
}

// withoutOpaque returns the messages without the opaque parts that are left out.
func (r restrictions) withoutOpaque(messages []Message) []Message {
	n := 0 // messages up to the last answer without
	for i, m := range messages {
		if f := m.Opaque.fingerprint(); f != "" && (f == r.opaqueUpTo || r.opaqueUpTo == everyAnswer) {
			n = i + 1
		}
	}
	if n == 0 {
		return messages
	}
	messages = slices.Clone(messages)
	for i, m := range messages[:n] {
		if m.Opaque != nil {
			messages[i].Opaque = &Opaque{Maker: m.Opaque.Maker}
		}
	}
	return messages
}

// fingerprint identifies the parts; "": there are none.
func (o *Opaque) fingerprint() string {
	if o == nil || len(o.Parts) == 0 {
		return ""
	}
	h := sha256.New()
	for _, p := range o.Parts {
		h.Write([]byte(p.Raw + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// maxRestricted is the maximum number of recorded conversations; beyond it, all are dropped.
const maxRestricted = 256

func (c *conversationRestrictions) get(key string) restrictions {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[key]
}

func (c *conversationRestrictions) put(key string, a restrictions) {
	if a == (restrictions{}) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxRestricted {
		c.known = map[string]restrictions{}
	}
	c.known[key] = a
}

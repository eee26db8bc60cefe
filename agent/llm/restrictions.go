package llm

import "sync"

// conversationRestrictions records the conversations with restrictions, so that not every request of such a
// conversation is refused first. It is safe for concurrent use.
type conversationRestrictions struct {
	mu    sync.Mutex
	known map[string]restrictions
}

// restrictions are parts of earlier answers that the endpoint refuses in one conversation. They say nothing about other
// conversations.
type restrictions struct{ noThinking, noOpaque bool }

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

package llm

import "sync"

// conversationsApart remembers of which conversations an endpoint refused what goes with
// the model's earlier answers, so that each of their requests isn't refused first. It is
// safe for concurrent use.
type conversationsApart struct {
	mu    sync.Mutex
	known map[string]apartness
}

// apartness is what holds for one conversation and teaches nothing about others.
type apartness struct{ noThinking, noOpaque bool }

// maxApart bounds how many conversations are remembered; beyond it all are forgotten.
const maxApart = 256

func (c *conversationsApart) of(key string) apartness {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[key]
}

func (c *conversationsApart) keep(key string, a apartness) {
	if a == (apartness{}) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxApart {
		c.known = map[string]apartness{}
	}
	c.known[key] = a
}

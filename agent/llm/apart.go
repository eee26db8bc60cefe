package llm

import "sync"

// conversationsApart remembers of which conversations an endpoint refused what goes with
// the model's earlier answers, so that each of their requests isn't refused first. It is
// safe for concurrent use.
type conversationsApart struct {
	mu    sync.Mutex
	known map[string]apartness
}

type apartness struct{ noThinking, noOpaque bool }

// maxApart bounds how many conversations are remembered; beyond it all are forgotten.
const maxApart = 256

func (c *conversationsApart) of(key string) (noThinking, noOpaque bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.known[key]
	return a.noThinking, a.noOpaque
}

func (c *conversationsApart) keep(key string, noThinking, noOpaque bool) {
	if !noThinking && !noOpaque {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxApart {
		c.known = map[string]apartness{}
	}
	c.known[key] = apartness{noThinking, noOpaque}
}

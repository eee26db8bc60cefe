package gitops

import (
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// baseCacheBytes bounds the delta bases that one read of a mirror caches, so that an attempt stays within its memory
// limit.
const baseCacheBytes = 16 << 20

// baseCache caches delta bases and is cleared when it is full. Contents are shared and must not be changed. Safe for
// concurrent use.
type baseCache struct {
	mu   sync.Mutex
	held int
	at   map[baseKey]cachedBase
}

type baseKey struct {
	pack *packFile
	off  int64
}

type cachedBase struct {
	kind    plumbing.ObjectType
	content []byte
}

func (c *baseCache) get(p *packFile, off int64) (plumbing.ObjectType, []byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, ok := c.at[baseKey{p, off}]
	return b.kind, b.content, ok
}

func (c *baseCache) put(p *packFile, off int64, kind plumbing.ObjectType, content []byte) {
	if len(content) > baseCacheBytes/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held += len(content); c.at == nil || c.held > baseCacheBytes {
		c.at, c.held = map[baseKey]cachedBase{}, len(content)
	}
	c.at[baseKey{p, off}] = cachedBase{kind, content}
}

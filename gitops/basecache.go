package gitops

import (
	"container/list"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// baseCacheBytes bounds the bases of deltas that one read of a mirror keeps,
// so that a running attempt stays within its share of memory.
const baseCacheBytes = 16 << 20

// baseCache keeps the bases of deltas that were used last. Contents are shared
// and must not be changed. Safe for concurrent use.
type baseCache struct {
	mu   sync.Mutex
	held int
	at   map[baseKey]*list.Element
	used list.List // of *base, last used first
}

type baseKey struct {
	pack *packFile
	off  int64
}

type cachedBase struct {
	key     baseKey
	kind    plumbing.ObjectType
	content []byte
}

func (c *baseCache) get(p *packFile, off int64) (plumbing.ObjectType, []byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.at[baseKey{p, off}]
	if !ok {
		return 0, nil, false
	}
	c.used.MoveToFront(el)
	b := el.Value.(*cachedBase)
	return b.kind, b.content, true
}

func (c *baseCache) put(p *packFile, off int64, kind plumbing.ObjectType, content []byte) {
	if len(content) > baseCacheBytes/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := baseKey{p, off}
	if _, ok := c.at[key]; ok {
		return
	}
	if c.at == nil {
		c.at = map[baseKey]*list.Element{}
	}
	c.at[key] = c.used.PushFront(&cachedBase{key, kind, content})
	for c.held += len(content); c.held > baseCacheBytes; {
		last := c.used.Remove(c.used.Back()).(*cachedBase)
		delete(c.at, last.key)
		c.held -= len(last.content)
	}
}

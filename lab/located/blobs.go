package located

import (
	"sync"

	"github.com/sia-bot/sia/gitops"
)

// maxCached limits the cached contents of one repository, in bytes.
const maxCached = 128 << 20

// blobCache caches contents: neighbouring tasks share most files. Safe for concurrent use.
type blobCache struct {
	mu    sync.Mutex
	kept  map[string][]byte
	bytes int
}

func (c *blobCache) read(h *gitops.History, id string) ([]byte, error) {
	c.mu.Lock()
	b, ok := c.kept[id]
	c.mu.Unlock()
	if ok {
		return b, nil
	}
	b, err := h.Blob(id, maxBlob)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes += len(b); c.kept == nil || c.bytes > maxCached {
		c.kept, c.bytes = map[string][]byte{}, len(b)
	}
	c.kept[id] = b
	return b, nil
}

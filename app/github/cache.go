package github

import (
	"bufio"
	"bytes"
	"container/list"
	"encoding/json"
	"net/http"
	"sync"
)

// responseCache is an LRU cache of responses for conditional requests, limited in bytes, and used by httpcache. There
// is one for each installation, above authentication: its key is the address alone, so no installation can see the
// responses of another.
//
// A 304 response to a conditional request does not count against GitHub's primary rate limit:
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests
type responseCache struct {
	mu    sync.Mutex
	max   int
	bytes int
	order *list.List // front: most recently used; values are *cacheEntry
	byKey map[string]*list.Element
}

type cacheEntry struct {
	key  string
	wire []byte
}

func (a *cacheEntry) size() int { return len(a.key) + len(a.wire) }

func newResponseCache(maxBytes int) *responseCache {
	return &responseCache{max: maxBytes, order: list.New(), byKey: map[string]*list.Element{}}
}

// Get returns the cached response.
func (c *responseCache) Get(key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cacheEntry).wire, true
}

// Set caches a response, unless it is not cacheable, or takes more than a quarter of the cache.
func (c *responseCache) Set(key string, wire []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
	a := &cacheEntry{key: key, wire: wire}
	if a.size() > c.max/4 || !isCacheable(wire) {
		return
	}
	c.byKey[key] = c.order.PushFront(a)
	c.bytes += a.size()
	for c.bytes > c.max {
		c.remove(c.order.Back().Value.(*cacheEntry).key)
	}
}

// Delete removes a response.
func (c *responseCache) Delete(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
}

func (c *responseCache) remove(key string) {
	e, ok := c.byKey[key]
	if !ok {
		return
	}
	c.bytes -= e.Value.(*cacheEntry).size()
	c.order.Remove(e)
	delete(c.byKey, key)
}

// isCacheable reports whether a response is a 200 with an entity tag, and not a full last page: if another page follows
// later, the entity tag is the same, and a 304 has no link to it. Incomplete responses don't reach the cache.
func isCacheable(wire []byte) bool {
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(wire)), nil)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var page []json.RawMessage
	full := json.NewDecoder(resp.Body).Decode(&page) == nil && len(page) == perPage
	return resp.StatusCode == http.StatusOK && resp.Header.Get("ETag") != "" &&
		!(full && !nextLink.MatchString(resp.Header.Get("Link")))
}

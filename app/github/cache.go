package github

import (
	"bufio"
	"bytes"
	"container/list"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
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

// Set caches a response, unless it is not a complete 200, has no entity tag, or takes more than a quarter of the
// cache.
func (c *responseCache) Set(key string, wire []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
	a := &cacheEntry{key: key, wire: wire}
	if a.size() > c.max/4 || !isCacheable(key, wire) {
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

// isCacheable reports whether a response is a complete 200 with an entity tag.
func isCacheable(key string, wire []byte) bool {
	head, _, _ := bytes.Cut(wire, []byte("\r\n\r\n"))
	status, headers, _ := bytes.Cut(head, []byte("\r\n"))
	_, code, _ := bytes.Cut(status, []byte(" "))
	return bytes.HasPrefix(code, []byte("200")) && bytes.Contains(bytes.ToLower(headers), []byte("etag:")) &&
		isComplete(key, wire)
}

// isComplete reports whether the body of the response to a GET of key is complete JSON, not null, not an error
// message, has the required fields, and is not a full last page, which a later page could follow unnoticed. An
// incomplete response in the cache would be confirmed by its entity tag, and stay incomplete.
func isComplete(key string, wire []byte) bool {
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(wire)), nil)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return false
	}
	body = bytes.TrimSpace(body)
	at, err := url.Parse(key)
	_, isRefusal := refusalMessage(body)
	var page []json.RawMessage
	if json.Unmarshal(body, &page) == nil && len(page) == perPage && !nextLink.MatchString(resp.Header.Get("Link")) {
		return false // if another page follows later, the entity tag is the same, and a 304 has no link
	}
	return err == nil && json.Valid(body) && !bytes.Equal(body, []byte("null")) && !isRefusal &&
		checkShape(http.MethodGet, at, body) == nil
}

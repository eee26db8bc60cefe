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

// answerCache keeps answers for conditional requests, bounded in bytes, the least
// recently used going first. It is the cache that httpcache asks. There is one
// per installation and it sits above authentication: its key is the address
// alone, so nothing of one installation can be shown to another.
//
// An answer 304 to a conditional request does not count against GitHub's
// primary rate limit:
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests
type answerCache struct {
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

func newAnswerCache(maxBytes int) *answerCache {
	return &answerCache{max: maxBytes, order: list.New(), byKey: map[string]*list.Element{}}
}

// Get returns the stored answer.
func (c *answerCache) Get(key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cacheEntry).wire, true
}

// Set stores an answer, unless it is not a whole 200, has no entity tag to revalidate
// it by, or would push out a quarter of the others.
func (c *answerCache) Set(key string, wire []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
	a := &cacheEntry{key: key, wire: wire}
	if a.size() > c.max/4 || !revalidable(key, wire) {
		return
	}
	c.byKey[key] = c.order.PushFront(a)
	c.bytes += a.size()
	for c.bytes > c.max {
		c.remove(c.order.Back().Value.(*cacheEntry).key)
	}
}

// Delete drops an answer.
func (c *answerCache) Delete(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
}

func (c *answerCache) remove(key string) {
	e, ok := c.byKey[key]
	if !ok {
		return
	}
	c.bytes -= e.Value.(*cacheEntry).size()
	c.order.Remove(e)
	delete(c.byKey, key)
}

// revalidable reports whether an answer as it went over the wire is a 200 with
// an entity tag.
func revalidable(key string, wire []byte) bool {
	head, _, _ := bytes.Cut(wire, []byte("\r\n\r\n"))
	status, headers, _ := bytes.Cut(head, []byte("\r\n"))
	_, code, _ := bytes.Cut(status, []byte(" "))
	return bytes.HasPrefix(code, []byte("200")) && bytes.Contains(bytes.ToLower(headers), []byte("etag:")) &&
		isWhole(key, wire)
}

// isWhole reports whether the body of an answer to a GET of an address is JSON to its end, not null,
// not words in its place, holds what it has to, and is no full page that another may follow unseen.
// Half an answer that was kept would be confirmed by its entity tag, and
// stay half.
func isWhole(key string, wire []byte) bool {
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
	_, words := onlyWords(body)
	var page []json.RawMessage
	if json.Unmarshal(body, &page) == nil && len(page) == perPage && !nextLink.MatchString(resp.Header.Get("Link")) {
		return false // once another page follows, its entity tag is the same, and a 304 has no link
	}
	return err == nil && json.Valid(body) && !bytes.Equal(body, []byte("null")) && !words &&
		lacking(http.MethodGet, at, body) == nil
}

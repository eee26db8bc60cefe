package github

import (
	"sync"
	"time"
)

// expiringMap is a bounded map with entries that expire. It is safe for concurrent use.
type expiringMap[K comparable, V any] struct {
	now func() time.Time
	ttl time.Duration
	max int

	mu sync.Mutex
	m  map[K]expiringEntry[V]
}

type expiringEntry[V any] struct {
	v  V
	at time.Time
}

func newExpiringMap[K comparable, V any](now func() time.Time, ttl time.Duration, maxEntries int) *expiringMap[K, V] {
	return &expiringMap[K, V]{now: now, ttl: ttl, max: maxEntries, m: map[K]expiringEntry[V]{}}
}

func (e *expiringMap[K, V]) get(k K) (v V, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	got, ok := e.m[k]
	if !ok || e.now().Sub(got.at) >= e.ttl {
		return v, false
	}
	return got.v, true
}

// put stores v. If the map is full, it removes the expired entries, or else all.
func (e *expiringMap[K, V]) put(k K, v V) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	if len(e.m) >= e.max {
		for old, it := range e.m {
			if now.Sub(it.at) >= e.ttl {
				delete(e.m, old)
			}
		}
		if len(e.m) >= e.max {
			clear(e.m)
		}
	}
	e.m[k] = expiringEntry[V]{v, now}
}

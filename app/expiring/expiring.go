// Package expiring has a bounded map with entries that expire, for what is remembered for a while.
package expiring

import (
	"sync"
	"time"
)

// Map is a bounded map with entries that expire. It is safe for concurrent use.
type Map[K comparable, V any] struct {
	now func() time.Time
	ttl time.Duration
	max int

	mu sync.Mutex
	m  map[K]entry[V]
}

type entry[V any] struct {
	v  V
	at time.Time
}

// New returns an empty map. Entries expire after ttl, and there are at most maxEntries.
func New[K comparable, V any](now func() time.Time, ttl time.Duration, maxEntries int) *Map[K, V] {
	return &Map[K, V]{now: now, ttl: ttl, max: maxEntries, m: map[K]entry[V]{}}
}

// Get returns the value of a key; false if there is none, or it has expired.
func (e *Map[K, V]) Get(k K) (v V, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	got, ok := e.m[k]
	if !ok || e.now().Sub(got.at) >= e.ttl {
		return v, false
	}
	return got.v, true
}

// Put stores v. If the map is full, it removes the expired entries, or else all.
func (e *Map[K, V]) Put(k K, v V) {
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
	e.m[k] = entry[V]{v, now}
}

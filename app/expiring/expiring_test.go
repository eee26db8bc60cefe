package expiring

import (
	"testing"
	"time"
)

// Entries expire, and a full map loses the expired ones first, or else all.
func TestMap(t *testing.T) {
	now := time.Unix(0, 0)
	m := New[int, string](func() time.Time { return now }, time.Minute, 10)
	holds := func(k int, want bool) {
		t.Helper()
		if v, ok := m.Get(k); ok != want || ok && v != "x" {
			t.Errorf("%d: %q, %v", k, v, ok)
		}
	}
	m.Put(1, "x")
	now = now.Add(59 * time.Second)
	holds(1, true)
	m.Put(2, "x")
	now = now.Add(time.Second)
	holds(1, false)
	holds(2, true)
	for k := 3; k <= 11; k++ { // the ninth finds the map full
		m.Put(k, "x")
	}
	holds(2, true)
	for k := range 100 {
		if m.Put(k, "x"); len(m.m) > 10 {
			t.Fatalf("%d entries", len(m.m))
		}
	}
	holds(2, false)
	holds(99, true)
}

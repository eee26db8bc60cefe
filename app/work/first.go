package work

import (
	"sync"
	"time"
)

// maxBegun bounds what is remembered of what was begun.
const maxBegun = 10_000

// ownEffects tells what nobody can have written to GitHub yet: it came up in this
// process, and this process has not begun it before. Everything else is looked for
// before it is written, for an answer may have been lost, and a process may have
// ended between the writing and the noting down.
type ownEffects struct {
	mu    sync.Mutex
	since time.Time // what came up after this is known
	begun map[string]bool
}

func newOwnEffects(now time.Time) *ownEffects {
	return &ownEffects{since: now, begun: map[string]bool{}}
}

// first reports whether what has a key and came up at a time is begun for the first
// time, and notes that it is begun.
func (f *ownEffects) first(key string, came, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !came.After(f.since) || f.begun[key] {
		return false
	}
	if len(f.begun) >= maxBegun {
		f.since, f.begun = now, map[string]bool{}
		return false
	}
	f.begun[key] = true
	return true
}

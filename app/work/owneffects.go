package work

import (
	"sync"
	"time"
)

// maxBegun limits the remembered effects.
const maxBegun = 10_000

// ownEffects records which effects cannot have written to GitHub yet: those that were created during this process's
// lifetime and that it has not begun before. For all others GitHub is searched before writing, because a response may
// have been lost, or a process may have ended after the write and before recording it.
type ownEffects struct {
	mu    sync.Mutex
	since time.Time // effects created after this are tracked
	begun map[string]bool
}

func newOwnEffects(now time.Time) *ownEffects {
	return &ownEffects{since: now, begun: map[string]bool{}}
}

// begin reports whether the effect with a key begins for the first time, and records that it has
// begun.
func (f *ownEffects) begin(key string, created, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !created.After(f.since) || f.begun[key] {
		return false
	}
	if len(f.begun) >= maxBegun {
		f.since, f.begun = now, map[string]bool{}
		return false
	}
	f.begun[key] = true
	return true
}

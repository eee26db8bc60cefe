package clientaddr

import (
	"sync"
	"time"
)

// At most maxAddresses are remembered. Tells reports once every tellEvery that some were refused.
const (
	maxAddresses = 4096
	tellEvery    = time.Minute
)

// Limiter bounds how often a client does something: burst times at once, and once more each second. It is safe for
// concurrent use.
type Limiter struct {
	now   func() time.Time
	burst int

	mu    sync.Mutex
	spent map[string]time.Time // when all that an address has spent is made up for
	told  time.Time            // when it was last told that some were refused
}

// NewLimiter returns one that remembers nobody.
func NewLimiter(burst int, now func() time.Time) *Limiter {
	return &Limiter{now: now, burst: burst, spent: map[string]time.Time{}}
}

// Allow reports whether a client may go on, and counts it if so.
func (l *Limiter) Allow(address string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if len(l.spent) >= maxAddresses {
		for a, until := range l.spent {
			if !until.After(now) {
				delete(l.spent, a)
			}
		}
		if len(l.spent) >= maxAddresses {
			clear(l.spent)
		}
	}
	until := l.spent[address]
	if until.Before(now) {
		until = now
	}
	if until.Sub(now) > time.Duration(l.burst-1)*time.Second {
		return false
	}
	l.spent[address] = until.Add(time.Second)
	return true
}

// Tells reports whether it is time to tell that some were refused, and counts it as told if so.
func (l *Limiter) Tells() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if !l.told.IsZero() && now.Sub(l.told) < tellEvery {
		return false
	}
	l.told = now
	return true
}

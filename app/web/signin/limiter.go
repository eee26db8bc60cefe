package signin

import (
	"sync"
	"time"
)

// An address may finish burst sign-ins at once and one more each second: each costs two requests to GitHub. People of
// one company may share an address. No more than maxAddresses are remembered. That some were refused is told once
// every tellEvery.
const (
	burst        = 30
	maxAddresses = 4096
	tellEvery    = time.Minute
)

// limiter bounds how often an address does something. It is safe for concurrent use.
type limiter struct {
	now func() time.Time

	mu    sync.Mutex
	spent map[string]time.Time // when all that an address has spent is made up for
	told  time.Time            // when it was last told that some were refused
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, spent: map[string]time.Time{}}
}

// allow reports whether an address may go on, and counts it if so.
func (l *limiter) allow(address string) bool {
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
	if until.Sub(now) > (burst-1)*time.Second {
		return false
	}
	l.spent[address] = until.Add(time.Second)
	return true
}

// tells reports whether it is time to tell that some were refused, and counts it as told if so.
func (l *limiter) tells() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if !l.told.IsZero() && now.Sub(l.told) < tellEvery {
		return false
	}
	l.told = now
	return true
}

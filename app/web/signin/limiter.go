package signin

import (
	"net"
	"sync"
	"time"
)

// An address may finish burst sign-ins at once and one more each second: each costs two requests to GitHub. People
// behind one proxy share an address. No more than maxAddresses are remembered.
const (
	burst        = 30
	maxAddresses = 4096
)

// limiter bounds how often an address does something. It is safe for concurrent use.
type limiter struct {
	now func() time.Time

	mu    sync.Mutex
	spent map[string]time.Time // when all that an address has spent is made up for
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, spent: map[string]time.Time{}}
}

// allow reports whether an address may go on, and counts it if so.
func (l *limiter) allow(remote string) bool {
	address, _, err := net.SplitHostPort(remote)
	if err != nil {
		address = remote
	}
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

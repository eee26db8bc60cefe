package clientaddr

import (
	"sync"
	"time"
)

// Limits on the number of clients to track, and on the rate of log lines about refusals.
const (
	maxAddresses       = 4096
	refusalLogInterval = time.Minute
)

// Limiter limits how often a client may do something: burst times at once, and once more each second. It is safe for
// concurrent use.
type Limiter struct {
	now   func() time.Time
	burst int

	mu         sync.Mutex
	fullAt     map[string]time.Time // when a client's burst is available again, by address
	lastLogged time.Time            // time of the last log line about refusals
}

// NewLimiter returns an empty limiter.
func NewLimiter(burst int, now func() time.Time) *Limiter {
	return &Limiter{now: now, burst: burst, fullAt: map[string]time.Time{}}
}

// Allow reports whether a client may proceed, and counts it if so.
func (l *Limiter) Allow(address string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if len(l.fullAt) >= maxAddresses {
		for a, until := range l.fullAt {
			if !until.After(now) {
				delete(l.fullAt, a)
			}
		}
		if len(l.fullAt) >= maxAddresses {
			clear(l.fullAt)
		}
	}
	until := l.fullAt[address]
	if until.Before(now) {
		until = now
	}
	if until.Sub(now) > time.Duration(l.burst-1)*time.Second {
		return false
	}
	l.fullAt[address] = until.Add(time.Second)
	return true
}

// ShouldLog reports whether it is time for another log line about refusals, and records it if so.
func (l *Limiter) ShouldLog() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if !l.lastLogged.IsZero() && now.Sub(l.lastLogged) < refusalLogInterval {
		return false
	}
	l.lastLogged = now
	return true
}

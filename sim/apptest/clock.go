package apptest

import (
	"sync"
	"time"
)

// Clock is a clock that stands still between the jumps that a test makes. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock is a clock that shows the present second. Tokens of the simulator expire by it, and the application's
// HTTP stack compares that with the machine's clock, so both must start close together.
func NewClock() *Clock { return &Clock{now: time.Now().UTC().Truncate(time.Second)} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Jump moves the clock forward to t; it never goes back.
func (c *Clock) Jump(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.After(c.now) {
		c.now = t
	}
}

package store

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// clockEvery is the interval between readings of the database's clock.
	clockEvery = 10 * time.Second
	// clockTolerance is the smallest difference that is corrected: due times are not more exact, and a query takes time.
	clockTolerance = time.Second
)

// sharedClock is the machine's clock, adjusted to the database's. The clocks of machines differ, and servers have to
// agree on what is due and on the writes of the last minute. It is safe for concurrent use.
type sharedClock struct {
	behind atomic.Int64 // offset added to the machine's clock, in nanoseconds
}

func (c *sharedClock) now() time.Time { return time.Now().Add(time.Duration(c.behind.Load())) }

// set adjusts the clock to another one that showed a time between two readings of the machine's. It reports whether the
// offset changed, and by how much the machine's clock is behind.
func (c *sharedClock) set(shown, before, after time.Time) (behind time.Duration, changed bool) {
	took := after.Sub(before)
	behind = shown.Sub(before.Add(took / 2))
	if off := behind - time.Duration(c.behind.Load()); off.Abs() < max(clockTolerance, took) {
		return 0, false
	}
	c.behind.Store(int64(behind))
	return behind, true
}

// readClock adjusts the clock to the server's.
func (s *postgresDialect) readClock(ctx context.Context) error {
	before := time.Now()
	var shown int64
	if err := s.r.QueryRowContext(ctx, `SELECT `+s.leaseClock()).Scan(&shown); err != nil {
		return err
	}
	if behind, changed := s.clock.set(fromMicros(shown), before, time.Now()); changed {
		s.log.WarnContext(ctx, "this machine's clock differs from the database's, by which SIA goes; set both by NTP",
			"behind", behind.Round(time.Millisecond))
	}
	return nil
}

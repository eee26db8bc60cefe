package github

import (
	"context"
	"sync"
	"time"
)

// pacer admits a write when its turn has come. The caller calls done afterwards.
type pacer interface {
	enter(ctx context.Context) (done func(), err error)
}

// unpaced is the pacer of requests that write to no repository.
type unpaced struct{}

func (unpaced) enter(context.Context) (func(), error) { return func() {}, nil }

// writePacer admits one write to a repository at once, and after a burst one per spacing on average. GitHub asks for
// both:
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#pause-between-mutative-requests
type writePacer struct {
	turn    chan struct{} // holds one element while a write is in flight
	now     func() time.Time
	sleep   func(context.Context, time.Duration) error
	spacing time.Duration
	burst   float64

	mu      sync.Mutex
	tokens  float64   // writes allowed now; at most burst
	updated time.Time // when tokens was computed
}

func newWritePacer(cfg Config) *writePacer {
	return &writePacer{
		turn: make(chan struct{}, 1), now: cfg.Now, sleep: cfg.Sleep,
		spacing: cfg.WriteSpacing, burst: float64(cfg.WriteBurst), tokens: float64(cfg.WriteBurst), updated: cfg.Now(),
	}
}

// enter waits for a write's turn.
func (p *writePacer) enter(ctx context.Context) (done func(), err error) {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	done = func() { <-p.turn }
	if d := p.reserve(); d > 0 {
		if err := p.sleep(ctx, d); err != nil {
			done()
			return nil, err
		}
	}
	return done, nil
}

// reserve removes one token from the bucket and returns how long to wait for it. The turn is held during the wait, so
// the bucket is never more than one token in debt.
func (p *writePacer) reserve() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if passed := now.Sub(p.updated); passed > 0 {
		p.tokens = min(p.burst, p.tokens+float64(passed)/float64(p.spacing))
	}
	p.updated = now
	p.tokens--
	if p.tokens >= 0 {
		return 0
	}
	return time.Duration(-p.tokens * float64(p.spacing))
}

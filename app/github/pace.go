package github

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// writePacer admits one write to a repository at once, and after a burst one per spacing on average. GitHub asks for
// both:
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#pause-between-mutative-requests
type writePacer struct {
	turn    chan struct{} // holds one element while a write is in flight
	now     func() time.Time
	sleep   func(context.Context, time.Duration) error
	limiter *rate.Limiter
}

func newWritePacer(cfg Config) *writePacer {
	return &writePacer{turn: make(chan struct{}, 1), now: cfg.Now, sleep: cfg.Sleep,
		limiter: rate.NewLimiter(rate.Every(cfg.WriteSpacing), cfg.WriteBurst)}
}

// enter waits for a write's turn. The caller calls done afterwards. The turn is held during the wait, so the limiter is
// never more than one write in debt.
func (p *writePacer) enter(ctx context.Context) (done func(), err error) {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	done = func() { <-p.turn }
	now := p.now()
	if d := p.limiter.ReserveN(now, 1).DelayFrom(now); d > 0 {
		if err := p.sleep(ctx, d); err != nil {
			done()
			return nil, err
		}
	}
	return done, nil
}

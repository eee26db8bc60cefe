package github

import (
	"context"
	"sync"
	"time"
)

// pacer lets a write through when its turn has come. The caller calls done
// afterwards.
type pacer interface {
	enter(ctx context.Context) (done func(), err error)
}

// unpaced is for what writes to no repository.
type unpaced struct{}

func (unpaced) enter(context.Context) (func(), error) { return func() {}, nil }

// writePacer lets writes to one repository through one at a time, and no faster
// than one per spacing on average after a burst. GitHub asks for both:
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#pause-between-mutative-requests
type writePacer struct {
	turn    chan struct{} // holds one element while a write is under way
	now     func() time.Time
	sleep   func(context.Context, time.Duration) error
	spacing time.Duration
	burst   float64

	mu   sync.Mutex
	have float64   // writes that may go out now; at most burst
	at   time.Time // when have was right
}

func newWritePacer(cfg Config) *writePacer {
	return &writePacer{
		turn: make(chan struct{}, 1), now: cfg.Now, sleep: cfg.Sleep,
		spacing: cfg.WriteSpacing, burst: float64(cfg.WriteBurst), have: float64(cfg.WriteBurst), at: cfg.Now(),
	}
}

// enter waits for the turn of a write.
func (p *writePacer) enter(ctx context.Context) (done func(), err error) {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	done = func() { <-p.turn }
	if d := p.take(); d > 0 {
		if err := p.sleep(ctx, d); err != nil {
			done()
			return nil, err
		}
	}
	return done, nil
}

// take takes one write out of the bucket and says how long to wait for it. The
// turn is held while waiting, so the bucket is never more than one in debt.
func (p *writePacer) take() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if passed := now.Sub(p.at); passed > 0 {
		p.have = min(p.burst, p.have+float64(passed)/float64(p.spacing))
	}
	p.at = now
	p.have--
	if p.have >= 0 {
		return 0
	}
	return time.Duration(-p.have * float64(p.spacing))
}

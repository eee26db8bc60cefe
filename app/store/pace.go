package store

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Whoever sends a delivery waits for the answer, and nobody for the work on it. Both take a processor for a moment, for
// most deliveries are about nothing that SIA works on. So the work gives way.
const (
	turnFor    = 2 * time.Millisecond   // after which a delivery that waits for GitHub leaves its turn to the next
	yieldFor   = 400 * time.Millisecond // that the work stops while several are being saved
	workFor    = 100 * time.Millisecond // that it goes on after that, however many are
	arrivedNow = 20 * time.Millisecond  // for so long after one has arrived, the next may be on its way
)

// pace is when the next delivery is worked on. It is safe for concurrent use.
type pace struct {
	inbox *groupCommit[*savedDelivery]
	turns chan struct{} // one processor is left to others, where there are several
	took  atomic.Int64  // nanoseconds that the last one had its turn
	until atomic.Int64  // until when the work goes on, in microseconds since 1970
}

func newPace(inbox *groupCommit[*savedDelivery]) *pace {
	return &pace{inbox: inbox, turns: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1))}
}

// turn waits for a turn to work on a delivery: until few others have one, for a while until few are being saved, and
// while some arrive, as long again as the last one took. done gives the turn back; so does time.
func (p *pace) turn(ctx context.Context) (done func(), err error) {
	select {
	case p.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if now := time.Now(); now.UnixMicro() >= p.until.Load() {
		for p.inbox.busy() && time.Since(now) < yieldFor && ctx.Err() == nil {
			time.Sleep(turnFor)
		}
		if time.Since(now) >= yieldFor {
			p.until.Store(time.Now().Add(workFor).UnixMicro())
		}
	}
	if p.inbox.sinceLast() < arrivedNow {
		time.Sleep(time.Duration(p.took.Load()))
	}
	began := time.Now()
	done = sync.OnceFunc(func() {
		p.took.Store(int64(min(turnFor, time.Since(began))))
		<-p.turns
	})
	time.AfterFunc(turnFor, done)
	return done, nil
}

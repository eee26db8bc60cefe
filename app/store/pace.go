package store

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// The sender of a delivery waits until it is saved, but not until it is processed. Both need a CPU for a short time,
// because most deliveries need no further work. So processing yields to saving.
const (
	maxTurn       = 2 * time.Millisecond   // maximum length of a turn: a delivery that takes longer waits for GitHub
	maxYield      = 400 * time.Millisecond // maximum pause of processing while several deliveries are being saved
	workInterval  = 100 * time.Millisecond // time without pauses after that
	recentArrival = 20 * time.Millisecond  // time after an arrival in which another one is likely
)

// pace limits the rate at which deliveries are processed. It is safe for concurrent use.
type pace struct {
	inbox *groupCommit[*savedDelivery]
	turns chan struct{} // semaphore of all CPUs but one
	took  atomic.Int64  // length of the last turn, in nanoseconds
	until atomic.Int64  // end of the time without pauses, in microseconds since 1970
}

func newPace(inbox *groupCommit[*savedDelivery]) *pace {
	return &pace{inbox: inbox, turns: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1))}
}

// turn waits for a turn to process a delivery: until the semaphore is free, then at most maxYield while several
// deliveries are being saved and, if one just arrived, for the length of the last turn. done ends the turn, as does
// maxTurn.
func (p *pace) turn(ctx context.Context) (done func(), err error) {
	select {
	case p.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if now := time.Now(); now.UnixMicro() >= p.until.Load() {
		for p.inbox.busy() && time.Since(now) < maxYield && ctx.Err() == nil {
			time.Sleep(maxTurn)
		}
		if time.Since(now) >= maxYield {
			p.until.Store(time.Now().Add(workInterval).UnixMicro())
		}
	}
	if p.inbox.sinceLast() < recentArrival {
		time.Sleep(time.Duration(p.took.Load()))
	}
	began := time.Now()
	done = sync.OnceFunc(func() {
		p.took.Store(int64(min(maxTurn, time.Since(began))))
		<-p.turns
	})
	time.AfterFunc(maxTurn, done)
	return done, nil
}

package store

import (
	"context"
	"sync"
)

// deliverySlots limits the deliveries in progress of an engine: all of them, and those of one installation to half as
// many, so that slow deliveries of one do not delay the others. It is safe for concurrent use.
type deliverySlots struct {
	all chan struct{} // semaphore

	mu  sync.Mutex
	own map[int64]*installationSlots // of the installations with running jobs
}

// installationSlots has the semaphore for the deliveries of an installation.
type installationSlots struct {
	slots chan struct{}
	jobs  int // number of running jobs
}

func newDeliverySlots(n int) *deliverySlots {
	return &deliverySlots{all: make(chan struct{}, n), own: map[int64]*installationSlots{}}
}

// most returns the maximum of one installation.
func (d *deliverySlots) most() int { return max(1, cap(d.all)/2) }

// of returns the semaphore of an installation. A job calls done when all its deliveries have freed their slots.
func (d *deliverySlots) of(installation int64) (own chan struct{}, done func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.own[installation]
	if s == nil {
		s = &installationSlots{slots: make(chan struct{}, d.most())}
		d.own[installation] = s
	}
	s.jobs++
	return s.slots, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if s.jobs--; s.jobs == 0 {
			delete(d.own, installation)
		}
	}
}

// takeSlot takes a slot of an installation's semaphore and one of the engine's. ok is false if the engine stops or ctx
// ends first.
func (e *Engine) takeSlot(ctx context.Context, own chan struct{}) (free func(), ok bool) {
	var taken []chan struct{}
	free = sync.OnceFunc(func() {
		for _, s := range taken {
			<-s
		}
	})
	for _, s := range []chan struct{}{own, e.deliverySlots.all} {
		select {
		case s <- struct{}{}:
			taken = append(taken, s)
			continue
		case <-ctx.Done():
		case <-e.stopping.Done():
		}
		free()
		return nil, false
	}
	return free, true
}

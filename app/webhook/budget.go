package webhook

import (
	"container/list"
	"net/http"
	"sync"
	"time"
)

const (
	// MaxInFlight bounds the bodies of all deliveries that are being read or stored, in bytes. Anybody can
	// send a body, and only its last byte shows who signed it.
	MaxInFlight = 64 << 20
	// initialBuffer is the memory reserved for a connection before any of its body has arrived, in bytes.
	initialBuffer = 16 << 10
	// stallTimeout is the time limit for the first byte of a body, and then for each progressBytes, after
	// which it may be evicted. So a sender of one byte a second counts as stalled.
	stallTimeout  = 2 * time.Second
	progressBytes = 16 << 10
	// capacityLogInterval is the minimum interval between log lines about deliveries refused for lack of memory.
	capacityLogInterval = time.Minute
)

// budget tracks how much of [MaxInFlight] is reserved. The zero value has nothing reserved. When it is exhausted, it
// evicts a body of the address that has reserved most, so that a few senders can't crowd out the others. It is safe
// for concurrent use.
type budget struct {
	mu         sync.Mutex
	taken      int64
	senders    map[string]*sender // by address
	lastLogged time.Time          // time of the last log line
	unlogged   int                // refusals since lastLogged
}

// sender is an address that is sending bodies.
type sender struct {
	address string
	bodies  list.List // of *incoming that can be evicted; least recent progress first
	size    int64     // bytes reserved for them
}

// incoming is a body that is being received. The budget's mutex guards its fields.
type incoming struct {
	budget *budget
	from   *sender
	conn   *http.ResponseController
	now    func() time.Time

	elem          *list.Element // in the sender's bodies; nil: it can't be evicted
	size          int64
	lastProgress  time.Time // when it began, or its last progressBytes were complete
	sinceProgress int       // bytes since lastProgress
	started       bool      // its first byte has arrived
	evicted       bool
}

// begin admits a body from an address. It returns nil if there is no memory for it.
func (r *budget) begin(address string, conn *http.ResponseController, now func() time.Time) *incoming {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := r.senders[address]
	if from == nil {
		from = &sender{address: address}
	}
	b := &incoming{budget: r, from: from, conn: conn, now: now, lastProgress: now()}
	if !r.reserveLocked(b, initialBuffer) {
		return nil
	}
	if conn.SetReadDeadline(time.Now().Add(firstByteTimeout)) != nil {
		return b // without a deadline it can't be evicted; a test's recorder has none
	}
	if r.senders == nil {
		r.senders = map[string]*sender{}
	}
	r.senders[address], b.elem = from, from.bodies.PushBack(b)
	from.size += b.size
	return b
}

// reserveLocked reserves n more bytes for a body, evicting others if needed. It reports whether it could.
func (r *budget) reserveLocked(b *incoming, n int64) bool {
	for r.taken+n > MaxInFlight {
		v := r.victimLocked(b, n)
		if v == nil || v.conn.SetReadDeadline(time.Now()) != nil {
			return false
		}
		v.evicted = true
		r.releaseLocked(v)
	}
	r.taken += n
	b.size += n
	if b.elem != nil {
		b.from.size += n
	}
	return true
}

// victimLocked returns the body to evict so that b gets n more bytes, or nil. It is the one with the least recent
// progress of the address that has reserved most, if that is more than b's address would have. Otherwise it is the
// one with the least recent progress of all, if it has stalled: one client may use many addresses.
func (r *budget) victimLocked(b *incoming, n int64) *incoming {
	most := b.from.size + n
	var largest, stalest *incoming
	for _, s := range r.senders {
		v := s.bodies.Front().Value.(*incoming) //nolint:forcetypeassert // nothing else is in the list
		if s.size > most {
			most, largest = s.size, v
		}
		if v != b && (stalest == nil || v.lastProgress.Before(stalest.lastProgress)) {
			stalest = v
		}
	}
	switch {
	case largest != nil:
		return largest
	case stalest != nil && b.now().Sub(stalest.lastProgress) >= stallTimeout:
		return stalest
	}
	return nil
}

// pinLocked protects a body from eviction.
func (r *budget) pinLocked(b *incoming) {
	if b.elem == nil {
		return
	}
	b.from.bodies.Remove(b.elem)
	b.elem = nil
	b.from.size -= b.size
	if b.from.bodies.Len() == 0 {
		delete(r.senders, b.from.address)
	}
}

// releaseLocked returns a body's bytes to the budget.
func (r *budget) releaseLocked(b *incoming) {
	r.pinLocked(b)
	r.taken -= b.size
	b.size = 0
}

// grow raises a body's reservation to size bytes. It reports whether it could.
func (b *incoming) grow(size int64) bool {
	b.budget.mu.Lock()
	defer b.budget.mu.Unlock()
	return !b.evicted && b.budget.reserveLocked(b, max(0, size-b.size))
}

// progress records that n more bytes of the body have arrived.
func (b *incoming) progress(n int) {
	b.budget.mu.Lock()
	defer b.budget.mu.Unlock()
	if b.sinceProgress += n; b.sinceProgress >= progressBytes || !b.started {
		b.lastProgress, b.sinceProgress = b.now(), 0
		if b.elem != nil {
			b.from.bodies.MoveToBack(b.elem)
		}
	}
	if !b.started && !b.evicted {
		b.started = true
		_ = b.conn.SetReadDeadline(time.Now().Add(bodyTimeout))
	}
}

// complete records that all of the body has arrived. It reports false if the body was evicted.
func (b *incoming) complete() bool {
	b.budget.mu.Lock()
	defer b.budget.mu.Unlock()
	b.budget.pinLocked(b)
	return !b.evicted
}

// isEvicted reports whether the body was evicted.
func (b *incoming) isEvicted() bool {
	b.budget.mu.Lock()
	defer b.budget.mu.Unlock()
	return b.evicted
}

// release returns the body's bytes to the budget.
func (b *incoming) release() {
	b.budget.mu.Lock()
	defer b.budget.mu.Unlock()
	b.budget.releaseLocked(b)
}

// countRefused counts a delivery that was refused for lack of memory. It returns the count since the last log line,
// or 0 if that was less than capacityLogInterval ago.
func (r *budget) countRefused(now time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unlogged++
	if !r.lastLogged.IsZero() && now.Sub(r.lastLogged) < capacityLogInterval {
		return 0
	}
	n := r.unlogged
	r.lastLogged, r.unlogged = now, 0
	return n
}

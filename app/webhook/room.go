package webhook

import (
	"container/list"
	"net/http"
	"sync"
	"time"
)

const (
	// MaxInFlight bounds the bodies of all deliveries that are being read or stored at
	// a time: anybody can send some, and only the last byte shows who signed them.
	MaxInFlight = 64 << 20
	// firstRead is what a connection takes before anything of its body has arrived, in
	// bytes: its buffers, and the place for what comes first.
	firstRead = 16 << 10
	// stalledFor is how long a body may take for its first byte, and then for each heardOf
	// bytes, before it gives way to others: who sends a byte a second has stalled, too.
	stalledFor = 2 * time.Second
	heardOf    = 16 << 10
	// scarceEvery is the least time between two words about deliveries for which there was no room.
	scarceEvery = time.Minute
)

// room is what is left of [MaxInFlight]. The zero value is all of it. Where nothing is left, the address that takes
// most of it gives way: so a few senders can't have the others refused. It is safe for concurrent use.
type room struct {
	mu      sync.Mutex
	taken   int64
	senders map[string]*sender // by address
	said    time.Time          // when the log was told that there is no room
	unsaid  int                // refused since
}

// sender is an address from which bodies are on their way.
type sender struct {
	address string
	bodies  list.List // *incoming that can give way; first the one that was not heard of for longest
	size    int64     // of these
}

// incoming is a body on its way. Its fields are the room's to lock.
type incoming struct {
	room *room
	from *sender
	conn *http.ResponseController
	now  func() time.Time

	at    *list.Element // in the sender's bodies; nil where it does not give way
	size  int64
	heard time.Time // when it began, or when the last heardOf bytes of it had arrived
	since int       // bytes that arrived after that
	first bool      // something of it arrived
	gave  bool      // it gave way
}

// begin makes a place for a body of an address; nil where there is none.
func (r *room) begin(address string, conn *http.ResponseController, now func() time.Time) *incoming {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := r.senders[address]
	if from == nil {
		from = &sender{address: address}
	}
	b := &incoming{room: r, from: from, conn: conn, now: now, heard: now()}
	if !r.take(b, firstRead) {
		return nil
	}
	if conn.SetReadDeadline(time.Now().Add(firstFor)) != nil {
		return b // it can't be interrupted: a recorder in a test has no connection
	}
	if r.senders == nil {
		r.senders = map[string]*sender{}
	}
	r.senders[address], b.at = from, from.bodies.PushBack(b)
	from.size += b.size
	return b
}

// take gives a body n bytes more, if there are as many, or if others give way.
func (r *room) take(b *incoming, n int64) bool {
	for r.taken+n > MaxInFlight {
		v := r.yields(b, n)
		if v == nil || v.conn.SetReadDeadline(time.Now()) != nil {
			return false
		}
		v.gave = true
		r.give(v)
	}
	r.taken += n
	b.size += n
	if b.at != nil {
		b.from.size += n
	}
	return true
}

// yields is the body that gives way to another that needs n bytes more; nil for none. It is the one that was not heard
// of for longest, of the address that takes most, if that is more than the other's would. Where none takes more, it is
// the one of all addresses that was not heard of for longest, if it has stalled: anybody may have many addresses.
func (r *room) yields(b *incoming, n int64) *incoming {
	most := b.from.size + n
	var largest, stalest *incoming
	for _, s := range r.senders {
		v := s.bodies.Front().Value.(*incoming) //nolint:forcetypeassert // nothing else is in the list
		if s.size > most {
			most, largest = s.size, v
		}
		if v != b && (stalest == nil || v.heard.Before(stalest.heard)) {
			stalest = v
		}
	}
	switch {
	case largest != nil:
		return largest
	case stalest != nil && b.now().Sub(stalest.heard) >= stalledFor:
		return stalest
	}
	return nil
}

// stay has a body not give way any more.
func (r *room) stay(b *incoming) {
	if b.at == nil {
		return
	}
	b.from.bodies.Remove(b.at)
	b.at = nil
	b.from.size -= b.size
	if b.from.bodies.Len() == 0 {
		delete(r.senders, b.from.address)
	}
}

// give gives a body's bytes back.
func (r *room) give(b *incoming) {
	r.stay(b)
	r.taken -= b.size
	b.size = 0
}

// grow has a body take size bytes in all, if there are as many.
func (b *incoming) grow(size int64) bool {
	b.room.mu.Lock()
	defer b.room.mu.Unlock()
	return !b.gave && b.room.take(b, max(0, size-b.size))
}

// hear notes that n bytes of the body have arrived.
func (b *incoming) hear(n int) {
	b.room.mu.Lock()
	defer b.room.mu.Unlock()
	if b.since += n; b.since >= heardOf || !b.first {
		b.heard, b.since = b.now(), 0
		if b.at != nil {
			b.from.bodies.MoveToBack(b.at)
		}
	}
	if !b.first && !b.gave {
		b.first = true
		_ = b.conn.SetReadDeadline(time.Now().Add(readFor))
	}
}

// whole notes that all of the body has arrived; false where it gave way before.
func (b *incoming) whole() bool {
	b.room.mu.Lock()
	defer b.room.mu.Unlock()
	b.room.stay(b)
	return !b.gave
}

// gaveWay reports whether the body had to give way.
func (b *incoming) gaveWay() bool {
	b.room.mu.Lock()
	defer b.room.mu.Unlock()
	return b.gave
}

// end gives back what the body took.
func (b *incoming) end() {
	b.room.mu.Lock()
	defer b.room.mu.Unlock()
	b.room.give(b)
}

// refused counts a delivery for which there was no room. It is how many there were since the log was last told; 0 when
// that is not long ago.
func (r *room) refused(now time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unsaid++
	if !r.said.IsZero() && now.Sub(r.said) < scarceEvery {
		return 0
	}
	n := r.unsaid
	r.said, r.unsaid = now, 0
	return n
}

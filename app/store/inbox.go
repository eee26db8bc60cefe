package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

const (
	inboxLength = 1024 // callers that may wait
	inboxBatch  = 256  // deliveries in one transaction, at most
)

// inbox gathers deliveries that arrive while a transaction is being committed
// into the next one, so that many callers share a commit and nobody waits for
// company: group commit.
type inbox struct {
	s      *Store
	queue  chan letter
	closed chan struct{}
	close  func() // closes closed, once
}

// letter is one delivery and where its sender waits.
type letter struct {
	d     Delivery
	reply chan reply // of length 1, so that a sender that left blocks nobody
}

type reply struct {
	fresh bool
	err   error
}

var errClosed = errors.New("the store is closed")

func newInbox(s *Store) *inbox {
	b := &inbox{s: s, queue: make(chan letter, inboxLength), closed: make(chan struct{})}
	b.close = sync.OnceFunc(func() { close(b.closed) })
	return b
}

func (b *inbox) save(ctx context.Context, d Delivery) (bool, error) {
	select {
	case <-b.closed:
		return false, errClosed
	default:
	}
	l := letter{d, make(chan reply, 1)}
	select {
	case b.queue <- l:
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-b.closed:
		return false, errClosed
	}
	select {
	case r := <-l.reply:
		return r.fresh, r.err
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-b.closed:
		return false, errClosed
	}
}

// run commits what arrives until ctx ends.
func (b *inbox) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-b.queue:
			b.commit(ctx, b.gather(first))
		}
	}
}

// gather takes what waits already, and waits for nothing.
func (b *inbox) gather(first letter) []letter {
	batch := []letter{first}
	for len(batch) < inboxBatch {
		select {
		case l := <-b.queue:
			batch = append(batch, l)
		default:
			return batch
		}
	}
	return batch
}

// commit writes a batch in one transaction. When that fails each delivery is
// tried in one of its own, so that one bad delivery spoils no other.
func (b *inbox) commit(ctx context.Context, batch []letter) {
	fresh := make([]bool, len(batch))
	err := b.write(ctx, batch, fresh)
	for i, l := range batch {
		switch {
		case err == nil:
			l.reply <- reply{fresh: fresh[i]}
		case len(batch) == 1:
			l.reply <- reply{err: err}
		default:
			b.commit(ctx, batch[i:i+1])
		}
	}
}

func (b *inbox) write(ctx context.Context, batch []letter, fresh []bool) error {
	all := make([]Delivery, len(batch))
	for i, l := range batch {
		all[i] = l.d
	}
	return b.s.write(ctx, "save deliveries", func(tx *sql.Tx) error {
		return b.s.saveDeliveries(ctx, tx, all, fresh)
	})
}

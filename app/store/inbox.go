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

// deliveryInbox is a group commit: deliveries that arrive while a transaction is
// being committed are gathered into the next one. Many callers share a commit, and
// nobody waits for company.
type deliveryInbox struct {
	s      *DeliveryStore
	queue  chan queuedDelivery
	closed chan struct{}
	close  func() // closes closed, once
}

// queuedDelivery is a delivery, and where its caller waits for the result of saving it.
type queuedDelivery struct {
	d     Delivery
	saved chan saveResult // of length 1, so that a caller that left blocks nobody
}

type saveResult struct {
	fresh bool
	err   error
}

var errClosed = errors.New("the store is closed")

func newDeliveryInbox(s *DeliveryStore) *deliveryInbox {
	b := &deliveryInbox{s: s, queue: make(chan queuedDelivery, inboxLength), closed: make(chan struct{})}
	b.close = sync.OnceFunc(func() { close(b.closed) })
	return b
}

func (b *deliveryInbox) save(ctx context.Context, d Delivery) (bool, error) {
	select {
	case <-b.closed:
		return false, errClosed
	default:
	}
	l := queuedDelivery{d, make(chan saveResult, 1)}
	select {
	case b.queue <- l:
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-b.closed:
		return false, errClosed
	}
	select {
	case r := <-l.saved:
		return r.fresh, r.err
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-b.closed:
		return false, errClosed
	}
}

// run commits what arrives until ctx ends.
func (b *deliveryInbox) run(ctx context.Context) {
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
func (b *deliveryInbox) gather(first queuedDelivery) []queuedDelivery {
	batch := []queuedDelivery{first}
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
func (b *deliveryInbox) commit(ctx context.Context, batch []queuedDelivery) {
	fresh := make([]bool, len(batch))
	err := b.write(ctx, batch, fresh)
	for i, l := range batch {
		switch {
		case err == nil:
			l.saved <- saveResult{fresh: fresh[i]}
		case len(batch) == 1:
			l.saved <- saveResult{err: err}
		default:
			b.commit(ctx, batch[i:i+1])
		}
	}
}

func (b *deliveryInbox) write(ctx context.Context, batch []queuedDelivery, fresh []bool) error {
	all := make([]Delivery, len(batch))
	for i, l := range batch {
		all[i] = l.d
	}
	return b.s.write(ctx, "save deliveries", func(tx *sql.Tx) error {
		return b.s.saveDeliveries(ctx, tx, all, fresh)
	})
}

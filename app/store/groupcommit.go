package store

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

const (
	groupQueue = 1024 // callers that may wait
	groupSize  = 256  // items in one transaction, at most
	groupMany  = 4    // from so many in the last one, the next waits for as many
	groupWait  = 2 * time.Millisecond
)

// groupCommit writes items in transactions that many callers share: what arrives while one is being committed is
// gathered into the next. Who comes alone waits for nobody. It is safe for concurrent use.
type groupCommit[T any] struct {
	write  func(ctx context.Context, items []T) error // in one transaction
	queue  chan queuedItem[T]
	closed <-chan struct{} // nothing is committed any more

	waiting atomic.Int32 // callers
	last    atomic.Int64 // when the last one came, in microseconds since 1970
}

// queuedItem is an item, and where its caller waits for the result.
type queuedItem[T any] struct {
	item    T
	written chan error // of length 1, so that a caller that left blocks nobody
}

var errClosed = errors.New("the store is closed")

func newGroupCommit[T any](
	closed <-chan struct{}, write func(ctx context.Context, items []T) error,
) *groupCommit[T] {
	return &groupCommit[T]{write: write, queue: make(chan queuedItem[T], groupQueue), closed: closed}
}

// do returns when the item is written, or can't be. When ctx ends first it may have been written all the same, or be
// written later.
func (g *groupCommit[T]) do(ctx context.Context, item T) error {
	select {
	case <-g.closed:
		return errClosed
	default:
	}
	g.last.Store(time.Now().UnixMicro())
	g.waiting.Add(1)
	defer g.waiting.Add(-1)
	q := queuedItem[T]{item, make(chan error, 1)}
	select {
	case g.queue <- q:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-g.closed:
		return errClosed
	}
	select {
	case err := <-q.written:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-g.closed:
		return errClosed
	}
}

// busy reports whether several callers wait.
func (g *groupCommit[T]) busy() bool { return g.waiting.Load() >= groupMany }

// sinceLast is how long ago the last caller came.
func (g *groupCommit[T]) sinceLast() time.Duration { return time.Since(time.UnixMicro(g.last.Load())) }

// run commits what arrives until ctx ends.
func (g *groupCommit[T]) run(ctx context.Context) {
	last := 0
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-g.queue:
			group := g.gather(first, last)
			g.commit(ctx, group)
			last = len(group)
		}
	}
}

// gather takes what waits already. After a group of many it waits for as many, up to groupWait, as PostgreSQL does with
// commit_delay and commit_siblings: whoever was answered sends the next.
// https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-COMMIT-DELAY
func (g *groupCommit[T]) gather(first queuedItem[T], last int) []queuedItem[T] {
	group := []queuedItem[T]{first}
	var late <-chan time.Time
	if last >= groupMany {
		late = time.After(groupWait)
	}
	for len(group) < groupSize {
		select {
		case q := <-g.queue:
			group = append(group, q)
			continue
		default:
		}
		if late == nil || len(group) >= last {
			return group
		}
		select {
		case q := <-g.queue:
			group = append(group, q)
		case <-late:
			return group
		}
	}
	return group
}

// commit writes a group in one transaction. When that fails each item is tried in one of its own, so that a bad one
// spoils no other. A database that says nothing holds the next ones up for no longer than saveTimeout.
func (g *groupCommit[T]) commit(ctx context.Context, group []queuedItem[T]) {
	items := make([]T, len(group))
	for i, q := range group {
		items[i] = q.item
	}
	writing, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	err := g.write(writing, items)
	for i, q := range group {
		if err != nil && len(group) > 1 && writing.Err() == nil {
			g.commit(ctx, group[i:i+1])
			continue
		}
		q.written <- err
	}
}

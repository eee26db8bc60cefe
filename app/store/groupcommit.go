package store

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

const (
	groupQueue     = 1024 // maximum number of queued items
	groupSize      = 256  // maximum number of items in one transaction
	groupThreshold = 4    // minimum size of a group after which the next one waits for more items
	groupWait      = 2 * time.Millisecond
)

// groupCommit writes items in transactions that many callers share: items that arrive during a commit are
// written together in the next one. A single caller is not delayed. It is safe for concurrent use.
type groupCommit[T any] struct {
	write  func(ctx context.Context, items []T) error // in one transaction
	queue  chan queuedItem[T]
	closed <-chan struct{} // nothing is committed any more

	waiting atomic.Int32 // callers
	last    atomic.Int64 // time of the last call, in microseconds since 1970
}

// queuedItem is an item with the channel for its result.
type queuedItem[T any] struct {
	item    T
	written chan error // has a buffer of 1, because the caller may have returned
}

var errClosed = errors.New("the store is closed")

func newGroupCommit[T any](
	closed <-chan struct{}, write func(ctx context.Context, items []T) error,
) *groupCommit[T] {
	return &groupCommit[T]{write: write, queue: make(chan queuedItem[T], groupQueue), closed: closed}
}

// do writes an item. When ctx ends first, the item may have been written nevertheless, or be written later.
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
func (g *groupCommit[T]) busy() bool { return g.waiting.Load() >= groupThreshold }

// sinceLast returns the time since the last call of do.
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

// gather takes the queued items. After a large group it waits for as many items, up to groupWait, because the callers
// of that group are likely to send the next items. PostgreSQL's commit_delay and commit_siblings do the same.
// https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-COMMIT-DELAY
func (g *groupCommit[T]) gather(first queuedItem[T], last int) []queuedItem[T] {
	group := []queuedItem[T]{first}
	var late <-chan time.Time
	if last >= groupThreshold {
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

// commit writes a group in one transaction. When that fails, each item is written in one of its own, so that a bad item
// affects no other. An unresponsive database blocks the next groups for at most saveTimeout.
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

// Package lease tells those who write to the world whether they still may.
//
// A worker that carries something out holds a lease of it, which it renews. When it is held up for so long that the
// lease runs out, another worker begins anew, and the first must write nothing any more, whenever it wakes. The lease
// travels in the context, so that whoever sends a request or a push can ask with [Check] right before. A context
// without a lease, such as that of a command or a page, may write.
//
// The store gives out leases and is the judge of them: it takes an outcome only from the worker with the newest token.
// This package is for what lies outside of the store's transactions, where only a clock can tell.
package lease

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// ErrLost is why something was not written: the lease ran out, or another worker has it.
var ErrLost = errors.New("the lease ran out, and another process may have taken this over")

// Lease says until when a worker may write. It is safe for concurrent use.
type Lease struct{ end atomic.Pointer[time.Time] }

// Until returns a lease that ends at a time of this process's clock.
func Until(end time.Time) *Lease {
	l := &Lease{}
	l.Extend(end)
	return l
}

// Extend sets another end.
func (l *Lease) Extend(end time.Time) { l.end.Store(&end) }

// Held reports whether the lease has not run out, by the monotonic clock and by the wall clock: the first stands still
// while a machine sleeps, and the second may be set back.
func (l *Lease) Held() bool {
	now, end := time.Now(), *l.end.Load()
	return now.Before(end) && now.Round(0).Before(end.Round(0))
}

type key struct{}

// With returns a context that carries the lease.
func With(ctx context.Context, l *Lease) context.Context { return context.WithValue(ctx, key{}, l) }

// Check is nil when the context's lease is held, or it carries none, and else [ErrLost].
func Check(ctx context.Context) error {
	if l, ok := ctx.Value(key{}).(*Lease); ok && !l.Held() {
		return ErrLost
	}
	return nil
}

// Package lease tells writers whether they still may write.
//
// A worker holds a lease on its work, and renews it. If it stalls until the lease expires, another worker starts
// over, and the first must not write any more when it continues. The context carries the lease, so that code that
// sends a request or a push can call [Check] just before. A context without a lease, such as that of a command or a
// page, may write.
//
// The store grants leases and enforces them: it accepts an outcome only from the worker with the newest token. This
// package is for effects outside the store's transactions, where only the clock can decide.
package lease

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// ErrLost reports that something was not written because the lease expired or another worker has it.
var ErrLost = errors.New("the lease ran out, and another process may have taken this over")

// Lease is the right to write until a time. It is safe for concurrent use.
type Lease struct{ end atomic.Pointer[time.Time] }

// Until returns a lease that expires at a time of this process's clock.
func Until(end time.Time) *Lease {
	l := &Lease{}
	l.Extend(end)
	return l
}

// Extend sets another expiry time.
func (l *Lease) Extend(end time.Time) { l.end.Store(&end) }

// Held reports whether the lease has not expired, by both the monotonic and the wall clock: the first stops while a
// machine sleeps, and the second may be set back.
func (l *Lease) Held() bool {
	now, end := time.Now(), *l.end.Load()
	return now.Before(end) && now.Round(0).Before(end.Round(0))
}

type key struct{}

// With returns a context that carries the lease.
func With(ctx context.Context, l *Lease) context.Context { return context.WithValue(ctx, key{}, l) }

// Check returns [ErrLost] if the context's lease has expired. It returns nil if the context has no lease.
func Check(ctx context.Context) error {
	if l, ok := ctx.Value(key{}).(*Lease); ok && !l.Held() {
		return ErrLost
	}
	return nil
}

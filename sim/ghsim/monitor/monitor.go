// Package monitor is the lock of a simulated GitHub and its background work.
//
// One lock guards everything, so that a change, its journal entry and its webhooks become visible together. Packages
// with state use the [Monitor] and document for each method whether it requires the lock.
package monitor

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Monitor is a lock, the condition that signals changes, and the goroutines that [Monitor.WaitIdle] waits for and
// [Monitor.Close] ends.
type Monitor struct {
	sync.Mutex
	changed *sync.Cond
	busy    int
	closed  bool
	ctx     context.Context
	cancel  context.CancelFunc
	wg      sync.WaitGroup
}

// New is a monitor without running work.
func New() *Monitor {
	m := &Monitor{}
	m.changed = sync.NewCond(&m.Mutex)
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m
}

// Context ends with Close. It bounds work started with Go.
func (m *Monitor) Context() context.Context { return m.ctx }

// Go runs work in the background, unless the monitor was closed. The lock is held when Go is called, and not when work
// runs.
func (m *Monitor) Go(work func()) {
	if m.closed {
		return
	}
	m.busy++
	m.wg.Go(func() {
		work()
		m.Lock()
		defer m.Unlock()
		m.busy--
		m.changed.Broadcast()
	})
}

// Serve runs work until Close, without counting it for WaitIdle.
func (m *Monitor) Serve(work func()) { m.wg.Go(work) }

// Signal wakes the goroutines that wait for a change; the lock is held.
func (m *Monitor) Signal() { m.changed.Broadcast() }

// Closed reports whether Close was called; the lock is held.
func (m *Monitor) Closed() bool { return m.closed }

// WaitIdle returns when no work is running, or with the context's error.
func (m *Monitor) WaitIdle(ctx context.Context) error {
	return m.Await(ctx, func() bool { return m.busy == 0 })
}

// Await blocks until done, called with the lock held, is true.
func (m *Monitor) Await(ctx context.Context, done func() bool) error {
	stop := context.AfterFunc(ctx, func() {
		m.Lock()
		defer m.Unlock()
		m.changed.Broadcast()
	})
	defer stop()
	m.Lock()
	defer m.Unlock()
	for !done() {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("waiting for the simulator: %w", err)
		}
		if m.closed {
			return errors.New("waiting for the simulator: it was closed")
		}
		m.changed.Wait()
	}
	return nil
}

// Close ends the context, and all waits with an error. It reports whether this was the first call. [Monitor.Wait] waits
// for running work.
func (m *Monitor) Close() bool {
	m.Lock()
	defer m.Unlock()
	if m.closed {
		return false
	}
	m.closed = true
	m.changed.Broadcast()
	m.cancel()
	return true
}

// Wait returns when everything that Go and Serve started has ended.
func (m *Monitor) Wait() { m.wg.Wait() }

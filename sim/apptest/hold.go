package apptest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/sia-bot/sia/sia"
)

// Point is a moment in a worker's run: before or after it carries out an effect of an attempt. After is before the
// outcome is stored.
type Point struct {
	When    string // before or after
	Kind    sia.EffectKind
	Attempt int
}

func (p Point) String() string { return fmt.Sprintf("%s %s %d", p.When, p.Kind, p.Attempt) }

// holds stops the worker at a point until it is released, its effect is cancelled, or the application stops.
type holds struct {
	mu      sync.Mutex
	point   *Point
	reached chan struct{} // closed when the point is reached
	next    chan struct{} // the release of the requested hold
	release chan struct{} // closed to release what is held; nil when nothing is
	held    []string      // keys of the held effects
	changed chan struct{} // closed when held changes, and replaced by keys
}

// at requests the next hold.
func (h *holds) at(p Point) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.point, h.reached, h.next = &p, make(chan struct{}), make(chan struct{})
}

// arrival is closed when the last requested hold is reached.
func (h *holds) arrival() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reached
}

// end releases what is held.
func (h *holds) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.release != nil {
		close(h.release)
		h.hold(nil)
	}
	h.release = nil
}

// keys are the effects that are held now; changed is closed when that changes.
func (h *holds) keys() (held []string, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return slices.Clone(h.held), h.changed
}

// hold sets the held effects; the caller holds the mutex.
func (h *holds) hold(keys []string) {
	h.held = keys
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}

// boundary implements [app.Options.Boundary].
func (h *holds) boundary(ctx context.Context, when string, f sia.Effect) {
	h.mu.Lock()
	if h.point == nil || *h.point != (Point{when, f.Kind, f.Attempt}) {
		h.mu.Unlock()
		return
	}
	h.point = nil // the next effect at this point is not held
	release := h.next
	h.release = release
	h.hold(append(h.held, f.Key))
	close(h.reached)
	h.mu.Unlock()

	select {
	case <-release:
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hold(slices.DeleteFunc(h.held, func(k string) bool { return k == f.Key }))
}

package apptest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/sia-bot/sia/sia"
)

// Point is a moment in an application's life: before or after the worker carries
// out an effect of an attempt. After is before its outcome is written down.
type Point struct {
	When    string // before or after
	Kind    sia.EffectKind
	Attempt int
}

func (p Point) String() string { return fmt.Sprintf("%s %s %d", p.When, p.Kind, p.Attempt) }

// holds keeps the worker at a point until it may go on, or its effect is
// cancelled, or the application stops.
type holds struct {
	mu      sync.Mutex
	point   *Point
	reached chan struct{} // closed when the point is reached
	next    chan struct{} // will be the release of the hold that is asked for
	release chan struct{} // closed to let what is held go on; nil when nothing is
	held    []string      // keys of the effects that are held
	changed chan struct{} // closed when held changes, and made anew by keys
}

// at asks for the next hold.
func (h *holds) at(p Point) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.point, h.reached, h.next = &p, make(chan struct{}), make(chan struct{})
}

// arrival is closed when the hold that was last asked for holds.
func (h *holds) arrival() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reached
}

// end lets what is held go on.
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

// hold sets the effects that are held; the mutex is held.
func (h *holds) hold(keys []string) {
	h.held = keys
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}

// boundary is the application's [app.Options.Boundary].
func (h *holds) boundary(ctx context.Context, when string, f sia.Effect) {
	h.mu.Lock()
	if h.point == nil || *h.point != (Point{when, f.Kind, f.Attempt}) {
		h.mu.Unlock()
		return
	}
	h.point = nil // the next one like it goes through
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

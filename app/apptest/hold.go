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
	release chan struct{} // closed to go on
	held    []string      // keys of the effects that are held
}

// at asks for a hold; reached is closed when it holds.
func (h *holds) at(p Point) (reached <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.point, h.reached, h.release = &p, make(chan struct{}), make(chan struct{})
	return h.reached
}

// end gives up the hold and lets what it held go on.
func (h *holds) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.release != nil {
		close(h.release)
	}
	h.point, h.release = nil, nil
}

// keys are the effects that are held now.
func (h *holds) keys() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.held)
}

// boundary is the application's [app.Options.Boundary].
func (h *holds) boundary(ctx context.Context, when string, f sia.Effect) {
	h.mu.Lock()
	if h.point == nil || *h.point != (Point{when, f.Kind, f.Attempt}) {
		h.mu.Unlock()
		return
	}
	h.point = nil // the next one like it goes through
	release := h.release
	h.held = append(h.held, f.Key)
	close(h.reached)
	h.mu.Unlock()

	select {
	case <-release:
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = slices.DeleteFunc(h.held, func(k string) bool { return k == f.Key })
}

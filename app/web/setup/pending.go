package setup

import (
	"crypto/rand"
	"crypto/subtle"
	"sync"
	"time"
)

// An app's registration may take an hour, as GitHub's code does; no more than maxPending are under way.
const (
	pendingFor = time.Hour
	maxPending = 64
)

// begun is a registration under way.
type begun struct {
	choice choice
	token  string // of the viewer who began
	at     time.Time
	made   *Registered // what GitHub made, while it could not be stored
}

// pending are the registrations under way, by their state. It is safe for concurrent use.
type pending struct {
	now func() time.Time

	mu      sync.Mutex
	byState map[string]*begun
}

func newPending(now func() time.Time) *pending {
	return &pending{now: now, byState: map[string]*begun{}}
}

// begin remembers a registration and returns its state.
func (p *pending) begin(c choice, token string) string {
	state := rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	for s, b := range p.byState {
		if p.now().Sub(b.at) >= pendingFor {
			delete(p.byState, s)
		}
	}
	if len(p.byState) >= maxPending {
		clear(p.byState)
	}
	p.byState[state] = &begun{choice: c, token: token, at: p.now()}
	return state
}

// find is the registration of a state that a viewer began; nil for any other.
func (p *pending) find(state, token string) *begun {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.byState[state]
	if b == nil || p.now().Sub(b.at) >= pendingFor || token == "" ||
		subtle.ConstantTimeCompare([]byte(b.token), []byte(token)) != 1 {
		return nil
	}
	return b
}

package setup

import (
	"crypto/rand"
	"crypto/subtle"
	"sync"
	"time"
)

// An app's registration may take an hour, the validity of GitHub's code; at most maxPending are in progress.
const (
	pendingFor = time.Hour
	maxPending = 64
)

// pendingRegistration is a registration in progress.
type pendingRegistration struct {
	choice choice
	token  string // of the viewer who started it
	at     time.Time
	made   *Registered // the registered app, until it is stored
}

// pending are the registrations in progress, by state. Safe for concurrent use.
type pending struct {
	now func() time.Time

	mu      sync.Mutex
	byState map[string]*pendingRegistration
}

func newPending(now func() time.Time) *pending {
	return &pending{now: now, byState: map[string]*pendingRegistration{}}
}

// begin adds a registration and returns its state.
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
	p.byState[state] = &pendingRegistration{choice: c, token: token, at: p.now()}
	return state
}

// find returns the registration of a state, if this viewer started it; nil otherwise.
func (p *pending) find(state, token string) *pendingRegistration {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.byState[state]
	if b == nil || p.now().Sub(b.at) >= pendingFor || token == "" ||
		subtle.ConstantTimeCompare([]byte(b.token), []byte(token)) != 1 {
		return nil
	}
	return b
}

package setup

import (
	"crypto/rand"
	"crypto/subtle"
	"time"

	"github.com/sia-bot/sia/app/expiring"
)

// An app's registration may take an hour, the validity of GitHub's code; at most maxPending are in progress.
const (
	pendingFor = time.Hour
	maxPending = 64
)

// pendingRegistration is a registration in progress.
type pendingRegistration struct {
	choice choice
	token  string      // of the viewer who started it
	made   *Registered // the registered app, until it is stored
}

// pending are the registrations in progress, by state. Safe for concurrent use.
type pending struct {
	byState *expiring.Map[string, *pendingRegistration]
}

func newPending(now func() time.Time) *pending {
	return &pending{expiring.New[string, *pendingRegistration](now, pendingFor, maxPending)}
}

// begin adds a registration and returns its state.
func (p *pending) begin(c choice, token string) string {
	state := rand.Text()
	p.byState.Put(state, &pendingRegistration{choice: c, token: token})
	return state
}

// find returns the registration of a state, if this viewer started it; nil otherwise.
func (p *pending) find(state, token string) *pendingRegistration {
	b, ok := p.byState.Get(state)
	if !ok || token == "" || subtle.ConstantTimeCompare([]byte(b.token), []byte(token)) != 1 {
		return nil
	}
	return b
}

package signin

import (
	"context"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/web/viewer"
)

// How long what GitHub said is used before it is asked again, how long it holds while GitHub does not answer, and how
// long GitHub is left alone after it did not.
const (
	lookAgain = time.Minute
	knownFor  = 5 * time.Minute
	leaveFor  = 10 * time.Second
)

// maxKnown bounds the sign-ins that are remembered with their rights, and those that are remembered as ended.
const maxKnown = 2000

// known remembers what people may see, by sign-in. It is safe for concurrent use.
type known struct {
	ask func(context.Context, session) (viewer.Viewer, error)
	now func() time.Time

	mu    sync.Mutex
	byID  map[string]*rights   // by the session's id
	ended map[string]time.Time // the ids of sessions that ended early, and until when their cookies would be good
}

// rights are what one sign-in may see. turn is held by who reads or asks.
type rights struct {
	turn   chan struct{} // capacity 1
	viewer viewer.Viewer
	at     time.Time // when GitHub said so; zero: never
	failed time.Time // when GitHub last did not answer
	err    error     // what it was then
}

func newKnown(ask func(context.Context, session) (viewer.Viewer, error), now func() time.Time) *known {
	return &known{ask: ask, now: now, byID: map[string]*rights{}, ended: map[string]time.Time{}}
}

// of is what a session may see. The error is [github.ErrRevoked] when GitHub does not accept its token.
func (k *known) of(ctx context.Context, s session) (viewer.Viewer, error) {
	r := k.rights(s.ID)
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return viewer.Viewer{}, ctx.Err()
	}
	now := k.now()
	if !r.at.IsZero() && now.Sub(r.at) < lookAgain {
		return r.viewer, nil
	}
	if r.failed.IsZero() || now.Sub(r.failed) >= leaveFor {
		v, err := k.ask(ctx, s)
		switch {
		case err == nil:
			r.viewer, r.at, r.failed, r.err = v, now, time.Time{}, nil
			return v, nil
		case isRevoked(err):
			return viewer.Viewer{}, err
		case ctx.Err() != nil:
			return viewer.Viewer{}, err // who asked has gone, which says nothing of GitHub
		}
		r.failed, r.err = now, err
	}
	if !r.at.IsZero() && now.Sub(r.at) < knownFor {
		return r.viewer, nil
	}
	return viewer.Viewer{}, r.err
}

// rights are those of a session; when there are too many, all are asked for anew.
func (k *known) rights(id string) *rights {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.byID[id]
	if r == nil {
		if len(k.byID) >= maxKnown {
			clear(k.byID)
		}
		r = &rights{turn: make(chan struct{}, 1)}
		k.byID[id] = r
	}
	return r
}

// end has a session be over, although its cookie may still be somewhere. Its token is given back to GitHub besides,
// so that forgetting it here, in a restart or when there are too many, lets nobody in.
func (k *known) end(s session) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byID, s.ID)
	if len(k.ended) >= maxKnown {
		clear(k.ended)
	}
	k.ended[s.ID] = s.Until
}

// hasEnded reports whether a session is over.
func (k *known) hasEnded(id string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, over := k.ended[id]
	return over
}

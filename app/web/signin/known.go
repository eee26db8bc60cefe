package signin

import (
	"context"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/expiring"
	"github.com/sia-bot/sia/app/web/viewer"
)

// How long GitHub's answer is used before it is renewed, how long it is used while GitHub does not answer, and the
// pause after a failed request.
const (
	lookAgain = time.Minute
	knownFor  = 5 * time.Minute
	leaveFor  = 10 * time.Second
)

// maxKnown bounds the sign-ins with cached rights, and the ended ones.
const maxKnown = 2000

// rightsCache caches the rights of sign-ins. It is safe for concurrent use.
type rightsCache struct {
	ask func(context.Context, session) (viewer.Viewer, error)
	now func() time.Time

	ended *expiring.Map[string, bool] // ids of sessions that ended before their cookies expire

	mu   sync.Mutex
	byID map[string]*rights // by the session's id
}

// rights are the rights of one sign-in. turn is held while reading or asking.
type rights struct {
	turn   chan struct{} // capacity 1
	viewer viewer.Viewer
	at     time.Time // time of GitHub's answer; zero: never
	failed time.Time // time of GitHub's last failure
	err    error     // error of that failure
}

// newRightsCache returns an empty cache for sign-ins that last so long.
func newRightsCache(
	ask func(context.Context, session) (viewer.Viewer, error), now func() time.Time, lasts time.Duration,
) *rightsCache {
	return &rightsCache{ask: ask, now: now, byID: map[string]*rights{},
		ended: expiring.New[string, bool](now, lasts, maxKnown)}
}

// of returns the rights of a session. The error is [github.ErrRevoked] when GitHub does not accept its token.
func (k *rightsCache) of(ctx context.Context, s session) (viewer.Viewer, error) {
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
			return viewer.Viewer{}, err // the request was cancelled, GitHub did not fail
		}
		r.failed, r.err = now, err
	}
	if !r.at.IsZero() && now.Sub(r.at) < knownFor {
		return r.viewer, nil
	}
	return viewer.Viewer{}, r.err
}

// rights returns the entry of a session; when there are too many, the cache is cleared.
func (k *rightsCache) rights(id string) *rights {
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

// end ends a session, although its cookie may still exist. Its token is also revoked at GitHub, so forgetting it here,
// in a restart or when there are too many, lets nobody in.
func (k *rightsCache) end(s session) {
	k.ended.Put(s.ID, true)
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byID, s.ID)
}

// hasEnded reports whether a session has ended.
func (k *rightsCache) hasEnded(id string) bool {
	_, over := k.ended.Get(id)
	return over
}

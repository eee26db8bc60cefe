package github

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/lease"
)

// maxTries bounds how often one request is sent while GitHub or the network fails.
const maxTries = 3

// retrier sends a request again when GitHub answers 5xx or the network fails,
// if sending it twice shows the same as sending it once. What creates something
// is not sent again: its caller looks first and so can. A write is not sent when
// the lease that its context carries ran out: another process may do the work.
type retrier struct {
	next  http.RoundTripper
	sleep func(context.Context, time.Duration) error
	allow func(req *http.Request) error // asked before each try
}

func (r *retrier) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	for try := 1; ; try++ {
		if err := lease.Check(ctx); err != nil && mutates(req) {
			closeBody(req)
			return nil, err
		}
		if err := r.allow(req); err != nil {
			closeBody(req)
			return nil, err
		}
		resp, err := r.next.RoundTrip(req)
		if !isBroken(resp, err) || ctx.Err() != nil || try == maxTries || !repeatable(req) {
			return resp, err
		}
		again, ok := rewound(req)
		if !ok {
			return resp, err
		}
		if resp != nil {
			discard(resp)
		}
		if err := r.sleep(ctx, min(backoff(try), maxWait)); err != nil {
			return nil, err
		}
		req = again
	}
}

func isBroken(resp *http.Response, err error) bool {
	if err != nil {
		return true
	}
	switch resp.StatusCode {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// onceKey marks the context of a request that must not be sent twice.
type onceKey struct{}

// once is for a request that adds something each time it is sent, although its
// method says otherwise.
func once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

// readKey marks the context of a request that only reads.
type readKey struct{}

// reading is for a request that changes nothing, although its method says otherwise.
func reading(ctx context.Context) context.Context { return context.WithValue(ctx, readKey{}, true) }

func onlyReads(req *http.Request) bool { return req.Context().Value(readKey{}) != nil }

// repeatable reports whether sending req twice shows the same as once. All our
// PATCH requests set absolute values, but for those that are sent [once], and a
// second token is as good as the first.
func repeatable(req *http.Request) bool {
	if req.Context().Value(onceKey{}) != nil {
		return false
	}
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return onlyReads(req) || strings.HasSuffix(req.URL.Path, "/access_tokens")
}

// backoff is how long to wait after a number of failures: half a second,
// doubling, half to one and a half times that.
func backoff(failures int) time.Duration {
	d := 500 * time.Millisecond << min(failures-1, 10)
	return d/2 + rand.N(d)
}

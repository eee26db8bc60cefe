package github

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/lease"
)

// maxTries is the maximum number of attempts to send a request while GitHub or the network fails.
const maxTries = 3

// retrier resends an idempotent request if GitHub answers 5xx or the network fails. A request that creates something
// is not resent: its caller looks whether it exists first, and so can retry. A write is not sent if the lease in its
// context is lost, because another process may do the work.
type retrier struct {
	next  http.RoundTripper
	sleep func(context.Context, time.Duration) error
	allow func(req *http.Request) error // called before each attempt
}

func (r *retrier) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	for try := 1; ; try++ {
		if err := lease.Check(ctx); err != nil && isWrite(req) {
			closeBody(req)
			return nil, err
		}
		if err := r.allow(req); err != nil {
			closeBody(req)
			return nil, err
		}
		resp, err := r.next.RoundTrip(req)
		if !isTransient(resp, err) || ctx.Err() != nil || try == maxTries || !isIdempotent(req) {
			return resp, err
		}
		again, ok := rewind(req)
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

func isTransient(resp *http.Response, err error) bool {
	if err != nil {
		return true
	}
	switch resp.StatusCode {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// noRetryKey marks the context of a request that must not be sent twice.
type noRetryKey struct{}

// withoutRetry marks a request that adds something each time it is sent, although its method is idempotent.
func withoutRetry(ctx context.Context) context.Context {
	return context.WithValue(ctx, noRetryKey{}, true)
}

// readOnlyKey marks the context of a request that only reads.
type readOnlyKey struct{}

// readOnly marks a request that changes nothing, although its method is one of a write.
func readOnly(ctx context.Context) context.Context {
	return context.WithValue(ctx, readOnlyKey{}, true)
}

func isReadOnly(req *http.Request) bool { return req.Context().Value(readOnlyKey{}) != nil }

// isIdempotent reports whether sending req twice has the effect of sending it once. All our PATCH requests set
// absolute values, except those marked [withoutRetry]. A second token is as good as the first.
func isIdempotent(req *http.Request) bool {
	if req.Context().Value(noRetryKey{}) != nil {
		return false
	}
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return isReadOnly(req) || strings.HasSuffix(req.URL.Path, "/access_tokens")
}

// backoff returns the wait after a number of failures: half a second, doubling with each failure, times a random
// factor of 0.5 to 1.5.
func backoff(failures int) time.Duration {
	d := 500 * time.Millisecond << min(failures-1, 10)
	return d/2 + rand.N(d)
}

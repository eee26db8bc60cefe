package webhook

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/sia-bot/sia/app/clientaddr"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

var (
	errTooLarge = errors.New("the delivery is larger than 25 MiB")
	errNoRoom   = errors.New("too many deliveries are being received; please send it again")
)

const (
	// retryAfter is the Retry-After header of a 503, in seconds. GitHub does not retry;
	// the periodic look requests the delivery again.
	retryAfter = "30"
	// firstByteTimeout is the time limit for the first byte of a body, and bodyTimeout, for all of it. GitHub
	// gives up after 10 seconds, GitHub Enterprise Server after 30.
	firstByteTimeout = 10 * time.Second
	bodyTimeout      = 40 * time.Second
)

// receive reads a request's body. It reserves memory as the bytes arrive, whatever length the request claims. The
// caller calls done when it no longer needs the body.
func (h *Handler) receive(w http.ResponseWriter, r *http.Request) (body []byte, done func(), err error) {
	limit := int64(MaxBody + 1) // one more byte shows that it is too large
	if r.ContentLength >= 0 {
		limit = r.ContentLength
	}
	b := h.budget.begin(clientaddr.Of(r), http.NewResponseController(w), h.Now)
	if b == nil {
		return nil, nil, errNoRoom
	}
	defer func() {
		if err != nil {
			b.release()
		}
	}()
	body = make([]byte, 0, min(initialBuffer, limit))
	for int64(len(body)) < limit {
		if len(body) == cap(body) {
			size := min(2*int64(cap(body)), limit)
			if !b.grow(size) {
				return nil, nil, errNoRoom
			}
			body = append(make([]byte, 0, size), body...)
		}
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if n > 0 {
			b.progress(n)
		}
		switch {
		case errors.Is(err, io.EOF) && (r.ContentLength < 0 || int64(len(body)) == limit):
			limit = int64(len(body))
		case err != nil && b.isEvicted():
			return nil, nil, errNoRoom
		case err != nil:
			return nil, nil, err
		}
	}
	if len(body) > MaxBody {
		return nil, nil, errTooLarge
	}
	if !b.complete() {
		return nil, nil, errNoRoom
	}
	return body, b.release, nil
}

// extractPayload returns the JSON of a delivery. An app's webhook may be set to send it as a form field; the
// signature covers the form.
// https://docs.github.com/en/webhooks/using-webhooks/creating-webhooks
func extractPayload(contentType string, body []byte) ([]byte, error) {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return body, nil //nolint:nilerr // parsing reports what is wrong
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || form.Get("payload") == "" {
		return nil, errors.New("the form has no payload")
	}
	return []byte(form.Get("payload")), nil
}

// largeBody is the size of a payload, in bytes, from which deliveries are processed one after another: a parsed
// payload is several times as large.
const largeBody = 1 << 20

// largeRetry is the wait of a large delivery for the one that is being processed.
const largeRetry = 5 * time.Second

// SerializeLarge wraps deliver, so that it processes at most one large delivery at once. For another one it returns an
// error that waits its turn.
func SerializeLarge(deliver func(context.Context, store.Delivery) error) func(context.Context, store.Delivery) error {
	turn := make(chan struct{}, 1)
	return func(ctx context.Context, d store.Delivery) error {
		if len(d.Body) < largeBody {
			return deliver(ctx, d)
		}
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
			return deliver(ctx, d)
		default:
			return &sia.Error{Op: "read delivery " + d.GUID, Message: "another large delivery is being processed", Turn: true,
				RetryAfter: largeRetry}
		}
	}
}

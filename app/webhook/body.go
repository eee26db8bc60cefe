package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/sia-bot/sia/app/clientaddr"
	"github.com/sia-bot/sia/app/store"
)

var (
	errTooLarge = errors.New("the delivery is larger than 25 MiB")
	errNoRoom   = errors.New("too many deliveries are being received; please send it again")
)

const (
	// comeAgain is when a sender may try again after there was no room for its body. GitHub
	// does not by itself; the periodic look has it sent again.
	comeAgain = "30"
	// firstFor is how long a body may take to begin, and readFor, in all: GitHub gives up
	// after 10 seconds, and 30 on GitHub Enterprise Server.
	firstFor = 10 * time.Second
	readFor  = 40 * time.Second
)

// receive reads a request's body, for which room is taken as it arrives: what it claims to be takes
// none. The caller calls done when the body is not needed any more.
func (h *Handler) receive(w http.ResponseWriter, r *http.Request) (body []byte, done func(), err error) {
	most := int64(MaxBody + 1) // one more shows that it is too large
	if r.ContentLength >= 0 {
		most = r.ContentLength
	}
	b := h.room.begin(clientaddr.Of(r), http.NewResponseController(w), h.Now)
	if b == nil {
		return nil, nil, errNoRoom
	}
	defer func() {
		if err != nil {
			b.end()
		}
	}()
	body = make([]byte, 0, min(firstRead, most))
	for int64(len(body)) < most {
		if len(body) == cap(body) {
			size := min(2*int64(cap(body)), most)
			if !b.grow(size) {
				return nil, nil, errNoRoom
			}
			body = append(make([]byte, 0, size), body...)
		}
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if n > 0 {
			b.hear(n)
		}
		switch {
		case errors.Is(err, io.EOF) && (r.ContentLength < 0 || int64(len(body)) == most):
			most = int64(len(body))
		case err != nil && b.gaveWay():
			return nil, nil, errNoRoom
		case err != nil:
			return nil, nil, err
		}
	}
	if len(body) > MaxBody {
		return nil, nil, errTooLarge
	}
	if !b.whole() {
		return nil, nil, errNoRoom
	}
	return body, b.end, nil
}

// payloadOf is the JSON of a delivery, which an app's webhook may be set to send in
// a form. The signature is over the form.
// https://docs.github.com/en/webhooks/using-webhooks/creating-webhooks
func payloadOf(contentType string, body []byte) ([]byte, error) {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return body, nil //nolint:nilerr // what it is then shows when it is read
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || form.Get("payload") == "" {
		return nil, errors.New("the form has no payload")
	}
	return []byte(form.Get("payload")), nil
}

// largeBody is from when on a payload is worked through alone: parsed, it is several
// times as large.
const largeBody = 1 << 20

// LargeAlone is deliver, but that one large delivery is worked through at a time.
func LargeAlone(deliver func(context.Context, store.Delivery) error) func(context.Context, store.Delivery) error {
	turn := make(chan struct{}, 1)
	return func(ctx context.Context, d store.Delivery) error {
		if len(d.Body) < largeBody {
			return deliver(ctx, d)
		}
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
			return deliver(ctx, d)
		case <-ctx.Done():
			return fmt.Errorf("wait to read delivery %s: %w", d.GUID, context.Cause(ctx))
		}
	}
}

package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sia-bot/sia/app/store"
)

const (
	// MaxInFlight bounds the bodies of all deliveries that are being read or stored at
	// a time: anybody can send some, and only the last byte shows who signed them.
	MaxInFlight = 64 << 20
	// comeAgain is when a sender for whose body there is no room may try again. GitHub
	// does not by itself; the periodic look has it sent again.
	comeAgain = "30"
	// readFor is how long a body may take: longer than GitHub waits for the answer,
	// 10 seconds and 30 on GitHub Enterprise Server.
	readFor = 40 * time.Second
	// firstRead is what is reserved for a body that does not say how long it is.
	firstRead = 64 << 10
)

var (
	errTooLarge = errors.New("the delivery is larger than 25 MiB")
	errNoRoom   = errors.New("too many deliveries are being received; please send it again")
)

// room is what is left of [MaxInFlight]. The zero value is all of it.
type room struct{ taken atomic.Int64 }

// take reserves bytes, if there are as many.
func (r *room) take(n int64) bool {
	if r.taken.Add(n) <= MaxInFlight {
		return true
	}
	r.taken.Add(-n)
	return false
}

// give gives bytes back.
func (r *room) give(n int64) { r.taken.Add(-n) }

// receive reads a request's body, for which room is taken first. The caller calls
// done when the body is not needed any more.
func (h *Handler) receive(w http.ResponseWriter, r *http.Request) (body []byte, done func(), err error) {
	size := r.ContentLength
	if size > MaxBody {
		return nil, nil, errTooLarge
	}
	if size < 0 {
		size = firstRead
	}
	if !h.room.take(size) {
		return nil, nil, errNoRoom
	}
	defer func() {
		if err != nil {
			h.room.give(size)
		}
	}()
	// A recorder in a test has no connection; a server's has.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readFor))
	body = make([]byte, size)
	n, err := io.ReadFull(r.Body, body)
	for err == nil && r.ContentLength < 0 { // there may be more
		if size == MaxBody {
			if m, _ := io.ReadFull(r.Body, make([]byte, 1)); m > 0 {
				return nil, nil, errTooLarge
			}
			break
		}
		more := min(size, MaxBody-size)
		if !h.room.take(more) {
			return nil, nil, errNoRoom
		}
		size += more
		body = slices.Grow(body, int(more))[:size]
		var m int
		m, err = io.ReadFull(r.Body, body[n:])
		n += m
	}
	if short := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF); short && r.ContentLength < 0 {
		err = nil
	}
	if err != nil {
		return nil, nil, err
	}
	return body[:n], func() { h.room.give(size) }, nil
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

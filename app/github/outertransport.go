package github

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/sia-bot/sia/sia/secret"
)

// maxResponse is the maximum size of a response of the REST API, in bytes. Pages of 100 check runs with long outputs
// stay far below it.
const maxResponse = 32 << 20

// outerTransport is the outermost round tripper of every client. It limits the time of a request with all its waits
// and retries, revalidates cached responses (GitHub allows using them unchecked for a minute, in which a check can
// turn red), and reads a response to its end so that it can be cached.
//
// Every write to GitHub goes through it, so it masks secrets in all request bodies. Only [App.client] makes one.
type outerTransport struct {
	next    http.RoundTripper
	secrets *secret.Masker
	timeout time.Duration
}

func newOuterTransport(next http.RoundTripper, secrets *secret.Masker, timeout time.Duration) *outerTransport {
	return &outerTransport{next: next, secrets: secrets, timeout: timeout}
}

func (t *outerTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), t.timeout)
	defer cancel()
	req = req.Clone(ctx)
	if req.Method == http.MethodGet {
		req.Header.Set("Cache-Control", "max-age=0")
	}
	if err := t.maskBody(req); err != nil {
		return nil, err
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := readResponse(req, resp, maxResponse)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// maskBody masks secrets in a request's body.
func (t *outerTransport) maskBody(req *http.Request) error {
	if req.Body == nil || req.Body == http.NoBody {
		return nil
	}
	body, err := io.ReadAll(req.Body)
	closeBody(req)
	if err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	if text := string(body); t.secrets.Mask(text) != text {
		body = t.secrets.MaskJSON(body)
	}
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, err = req.GetBody()
	return err
}

// rewind returns req with a fresh body to send again, or false if the body is not available again.
func rewind(req *http.Request) (*http.Request, bool) {
	if req.Body == nil || req.Body == http.NoBody {
		return req, true
	}
	if req.GetBody == nil {
		return nil, false
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, false
	}
	again := req.Clone(req.Context())
	again.Body = body
	return again, true
}

// closeBody closes a request's body. A round tripper must do that if it does not pass the request on.
func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// discard reads and closes a response that is not needed, so that its connection can be reused.
func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	resp.Body.Close()
}

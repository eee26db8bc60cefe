package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limits of the client's requests.
const (
	pollTimeout      = LongPoll + 20*time.Second
	heartbeatTimeout = 10 * time.Second
	reportTimeout    = 40 * time.Second
	resultTimeout    = UploadTimeout + BodyTimeout
	maxResponse      = 64 << 10 // maximum size of a response that is no attempt, in bytes
	maxRetryDelay    = 30 * time.Second
)

// ErrGone means that the pass is no longer valid.
var ErrGone = errors.New("the attempt is no longer this runner's")

// ErrUnavailable means that the server could not be reached, or could not answer, for as long as it was tried.
var ErrUnavailable = errors.New("the server is not available")

// ErrToken means that the server rejects the token.
var ErrToken = errors.New("the server does not know this runner's token: it was removed, or never added; " +
	"`sia runner add NAME` on the server makes one")

// statusError is a response of the server with a status other than 2xx.
type statusError struct {
	status int
	sia    bool // it has [Header]
	said   string
	after  time.Duration
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the server answered %d: %s", e.status, e.said)
}

// isPermanent reports whether an error is permanent. A proxy that does not lead to SIA at the moment may answer 401 or
// 404.
func isPermanent(err error) bool {
	var r *statusError
	return errors.Is(err, ErrGone) || errors.As(err, &r) && r.status >= 400 && r.status < 500 &&
		r.status != http.StatusTooManyRequests && r.status != http.StatusRequestTimeout &&
		(r.sia || r.status != http.StatusUnauthorized && r.status != http.StatusNotFound)
}

// Client is the client of a [Handler]. It is safe for concurrent use.
type Client struct {
	base *url.URL
	http *http.Client
	take chan struct{} // a mutex for [Client.Take]
	old  sync.Once     // tells that the server gives out no tests beside the attempts
}

// NewClient returns a client for a server's address. plain allows http to another machine.
func NewClient(server string, plain bool) (*Client, error) {
	u, err := url.Parse(strings.TrimRight(server, "/"))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.User != nil:
		return nil, fmt.Errorf("--server: %q is no address; give one such as https://sia.example.com", server)
	case u.Scheme == "http" && !plain && !isLoopback(u.Hostname()):
		return nil, fmt.Errorf("--server: %s is not encrypted, and the token and the code would cross the network in the "+
			"open; use https, or --plain-http where nobody else is on the network", server)
	}
	// No timeout of the client: each request has a context, and a model may take minutes before it answers.
	t := http.DefaultTransport.(*http.Transport).Clone()
	return &Client{base: u.JoinPath(Prefix), take: make(chan struct{}, 1), http: &http.Client{Transport: t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Host returns the server's host, with its port.
func (c *Client) Host() string { return c.base.Host }

// ModelURL returns the base URL for requests to a model, with the pass as the key.
func (c *Client) ModelURL(number int) string {
	return c.base.String() + ModelPath + strconv.Itoa(number)
}

// Transport returns the transport of requests to the server.
func (c *Client) Transport() http.RoundTripper { return c.http.Transport }

// ask makes one request. The caller must close the body of the response.
func (c *Client) ask(ctx context.Context, method, path, token string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base.String()+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("User-Agent", "sia-runner")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	e := &statusError{status: resp.StatusCode, sia: resp.Header.Get(Header) != "",
		said: http.StatusText(resp.StatusCode)}
	var v struct{ Error struct{ Message string } }
	if json.Unmarshal(said, &v) == nil && v.Error.Message != "" {
		e.said = v.Error.Message
	} else if e.status/100 == 3 || slices.Contains([]int{http.StatusUnauthorized, http.StatusNotFound,
		http.StatusMethodNotAllowed}, e.status) {
		e.said += "; is --server the address of SIA itself?"
	}
	if e.status == http.StatusRequestEntityTooLarge && !e.sia {
		e.said += "; a proxy in front of SIA takes smaller bodies than SIA, which needs 40 MB (nginx: client_max_body_size)"
	}
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 {
		e.after = min(time.Duration(n)*time.Second, maxRetryDelay)
	}
	if e.status == http.StatusGone {
		return nil, errors.Join(ErrGone, e)
	}
	return nil, e
}

// read makes a request and returns at most most bytes of the response.
func (c *Client) read(ctx context.Context, within time.Duration, method, path, token string, body []byte, most int64) (
	said []byte, err error,
) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	resp, err := c.ask(ctx, method, path, token, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(io.LimitReader(resp.Body, most))
}

// retry calls do until it succeeds, its error is permanent, or ctx ends.
func retry(ctx context.Context, do func() error) error {
	for tries := 0; ; tries++ {
		err := do()
		if err == nil || isPermanent(err) {
			return err
		}
		if !Sleep(ctx, delay(tries, err)) {
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// delay returns the time before another try, after an error of a try that had so many before it.
func delay(tries int, err error) time.Duration {
	wait := min(time.Second/4<<min(tries, 4), 4*time.Second)
	if r := (*statusError)(nil); errors.As(err, &r) {
		wait = max(wait, r.after)
	}
	return wait
}

// Sleep waits for d, and reports whether ctx did not end before.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Take waits until the server has an attempt or a run of tests for the runner with a token, whichever the slot takes,
// and retries after errors. It returns [ErrToken] when the token is not valid, and an error when ctx ends. about
// returns the runner's description.
// Concurrent calls are serialized, because a server limits the polls of a runner, but not the number of its attempts.
// Those of the one slot with [TakesTests] are not: it must not wait for the others, nor they for it.
func (c *Client) Take(
	ctx context.Context, token string, about func() string, takes Takes, log *slog.Logger,
) (*Offer, error) {
	if takes != TakesTests {
		select {
		case c.take <- struct{}{}:
			defer func() { <-c.take }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	for pause := time.Second; ; {
		o, err := c.next(ctx, token, about(), takes)
		var r *statusError
		known := errors.As(err, &r)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case known && r.sia && r.status == http.StatusUnauthorized:
			return nil, ErrToken
		case known && r.sia && r.status == http.StatusNotFound && takes == TakesTests:
			c.old.Do(func() {
				log.InfoContext(ctx, "the server's version is older: it gives out no tests beside the attempts")
			})
			pause = maxRetryDelay
			Sleep(ctx, pause)
		case err != nil:
			log.WarnContext(ctx, "the server can't be asked for work; trying again", "error", err, "in", pause,
				"for", takes)
			wait := pause
			if known {
				wait = max(wait, r.after)
			}
			pause = min(2*pause, maxRetryDelay)
			Sleep(ctx, wait)
		case o != nil:
			return o, nil
		default:
			pause = time.Second
		}
	}
}

// next asks for an attempt once; nil: the poll ended without one.
func (c *Client) next(ctx context.Context, token, about string, takes Takes) (*Offer, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*pollTimeout)
	defer cancel()
	resp, err := c.ask(ctx, http.MethodPost, string(takes), token, []byte(clipAbout(about)))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNoContent {
		return nil, nil //nolint:nilnil // documented
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, MaxWork+1<<20))
	if err != nil {
		return nil, err
	}
	var o Offer
	if err := json.Unmarshal(b, &o); err != nil {
		return nil, fmt.Errorf("the server's answer is no attempt; is --server the address of SIA itself? %w", err)
	}
	return &o, nil
}

// Work returns the input of an attempt, for a client that has only its pass. It retries for the duration of a lease.
func (c *Client) Work(ctx context.Context, pass string) (w Work, err error) {
	ctx, cancel := context.WithTimeout(ctx, Lease)
	defer cancel()
	err = retry(ctx, func() error {
		b, err := c.read(ctx, Lease, http.MethodGet, WorkPath, pass, nil, MaxWork+1<<20)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(b, &w); err != nil {
			return fmt.Errorf("the server's answer is no attempt: %w", err)
		}
		return nil
	})
	return w, err
}

// Base calls take with the commit that an attempt starts from, or the one that its tests are compared with, as a pack.
// If the pack does not come whole, it retries until no bytes have come for the time within, or ctx ends. Then the error
// is [ErrUnavailable], unless the last try had received a part of the pack.
func (c *Client) Base(
	ctx context.Context, within time.Duration, pass string, ofTests bool, take func(io.Reader) error,
) error {
	path := BasePath
	if ofTests {
		path += "?" + BaseOfTests
	}
	came := time.Now() // when the last bytes came, or the first try began
	for tries := 0; ; tries++ {
		body, refused, err := c.tryBase(ctx, path, pass, take)
		if err == nil {
			return refused
		}
		if !body.last.IsZero() {
			came = body.last
		}
		wait := delay(tries, err)
		switch {
		case isPermanent(err):
			return err
		case time.Since(came)+wait < within && Sleep(ctx, wait):
			continue
		case !body.last.IsZero() || errors.Is(ctx.Err(), context.Canceled):
			return err
		}
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
}

// tryBase is one try of [Client.Base]. refused is the error of take, and err that of the transfer.
func (c *Client) tryBase(
	ctx context.Context, path, pass string, take func(io.Reader) error,
) (body watchedReader, refused, err error) {
	resp, err := c.ask(ctx, http.MethodGet, path, pass, nil)
	if err != nil {
		return body, nil, err
	}
	defer resp.Body.Close()
	body.Reader = resp.Body
	refused = take(&body)
	return body, refused, body.err
}

// watchedReader keeps the error of its reads, and the time of the last that returned bytes.
type watchedReader struct {
	io.Reader
	last time.Time
	err  error
}

// Read implements io.Reader.
func (r *watchedReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if n > 0 {
		r.last = time.Now()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// Heartbeat sends one heartbeat of an attempt. stop reports whether the attempt has to stop. The error wraps [ErrGone]
// when the pass is no longer valid.
func (c *Client) Heartbeat(ctx context.Context, pass string) (stop bool, err error) {
	b, err := c.read(ctx, heartbeatTimeout, http.MethodPost, HeartbeatPath, pass, nil, maxResponse)
	if isPermanent(err) {
		return false, errors.Join(ErrGone, err)
	}
	if err != nil {
		return false, err
	}
	var v Heartbeat
	err = json.Unmarshal(b, &v)
	return v.Stop, err
}

// Turn reports a turn with its number, and returns when it is in the transcript.
func (c *Client) Turn(ctx context.Context, pass string, number int, turn []byte) error {
	path := fmt.Sprintf("%s?%s=%d", TurnPath, TurnNumber, number)
	return retry(ctx, func() error {
		_, err := c.read(ctx, reportTimeout, http.MethodPost, path, pass, turn, maxResponse)
		return err
	})
}

// Result reports the result of an attempt, with retries. body is made by [JoinResult].
func (c *Client) Result(ctx context.Context, pass string, body []byte) error {
	return retry(ctx, func() error {
		_, err := c.read(ctx, resultTimeout, http.MethodPost, ResultPath, pass, body, maxResponse)
		return err
	})
}

// PushRefusal asks why the change of a running attempt must not be pushed; "": nothing prevents it. body is made by
// [JoinResult]. It retries until ctx ends.
func (c *Client) PushRefusal(ctx context.Context, pass string, body []byte) (why string, err error) {
	var answer []byte
	for _, q := range []struct {
		method string
		within time.Duration
		body   []byte
	}{{http.MethodPost, resultTimeout, body}, {http.MethodGet, reportTimeout, nil}} {
		if err := retry(ctx, func() (err error) {
			answer, err = c.read(ctx, q.within, q.method, ChangePath, pass, q.body, maxResponse)
			return err
		}); err != nil {
			return "", err
		}
	}
	var a ChangeAnswer
	if err := json.Unmarshal(answer, &a); err != nil {
		return "", fmt.Errorf("the server's answer about the change can't be read: %w", err)
	}
	if a.Unknown {
		return "", errors.New("the server could not find out; its log says why")
	}
	return a.Refused, nil
}

// Release ends the lease of an attempt, so that another runner can take it immediately. With lost, it counts as an
// attempt that could not be run here.
func (c *Client) Release(ctx context.Context, pass string, lost bool) error {
	path := ReleasePath
	if lost {
		path += "?" + ReleaseLost + "=1"
	}
	_, err := c.read(ctx, heartbeatTimeout, http.MethodPost, path, pass, nil, maxResponse)
	return err
}

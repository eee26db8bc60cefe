package gitops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// questionTimeout bounds an exchange without a pack.
	questionTimeout = 30 * time.Second
	// transferTimeout bounds an exchange with a pack.
	transferTimeout = 10 * time.Minute
	// maxTries is how often a read is tried in all.
	maxTries = 3
	// maxWait is the longest time that a read waits when the server asks for it. For a longer one, the caller decides.
	maxWait = 10 * time.Second
	// maxRetryAfter is the longest wait that a server can ask for.
	maxRetryAfter = 24 * time.Hour
	// maxRedirects bounds a chain of redirects; GitHub sends one after a rename.
	maxRedirects = 3
)

// advertisement is the path, below a repository's URL, of the server's refs and capabilities.
const advertisement = "/info/refs"

// client speaks the git protocol with one remote. It knows nothing of mirrors. Safe for concurrent use.
type client struct {
	cache  *Cache // for its settings, and for what its clients know of servers
	remote Remote
	url    *url.URL // without credentials; nil: the remote is invalid
}

// gitRequest is one HTTP exchange with a git server.
type gitRequest struct {
	op      string // for errors, such as "fetch main"
	service string // "git-upload-pack" or "git-receive-pack"
	v2      bool   // ask for protocol version 2
	timeout time.Duration
	body    io.Reader // nil asks for the server's advertisement
	size    int64     // of body
}

// readAnswer sends q to base, calls read with the answer, and returns the address of the repository that answered.
func (c *client) readAnswer(
	ctx context.Context, base *url.URL, q gitRequest, read func(*pktReader) error,
) (*url.URL, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, q.timeout, fmt.Errorf("no complete answer within %v: %w", q.timeout,
		context.DeadlineExceeded))
	defer cancel()
	resp, err := c.exchange(ctx, base, q)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if err := read(newPktReader(resp.Body)); err != nil {
		return nil, c.readError(ctx, q.op, err)
	}
	at := *base
	at.Path = strings.TrimSuffix(resp.Request.URL.Path, advertisement)
	return &at, nil
}

// exchange carries out one exchange with the repository at base, and returns an answer of git's, never an HTML page.
// When the server does not find the repository with the first token, it tries [Remote.Other].
func (c *client) exchange(ctx context.Context, base *url.URL, q gitRequest) (*http.Response, error) {
	secret := ""
	if c.remote.Token != nil {
		var err error
		if secret, err = c.remote.Token(ctx); err != nil {
			return nil, fmt.Errorf("%s %s: get token: %w", q.op, base, err)
		}
	}
	renewed := false // an expired token is renewed once
	for first := secret; ; {
		resp, err := c.sendOnce(ctx, base, q, secret)
		if err != nil {
			return nil, err
		}
		if isGitAnswer(resp, q) {
			if secret != first && c.remote.Took != nil {
				c.remote.Took(secret)
			}
			return resp, nil
		}
		expired := resp.StatusCode == http.StatusUnauthorized && !renewed
		renewed = renewed || expired
		other, err := c.otherToken(ctx, q, resp, secret, expired)
		if err == nil && other == "" {
			err = c.refusalError(q.op, resp, secret)
		}
		resp.Body.Close()
		if err != nil {
			return nil, err
		}
		secret = other
	}
}

// sendOnce sends a request of an exchange.
func (c *client) sendOnce(ctx context.Context, base *url.URL, q gitRequest, secret string) (*http.Response, error) {
	method, target := http.MethodPost, base.JoinPath(q.service)
	if q.body == nil {
		method, target = http.MethodGet, base.JoinPath(advertisement)
		target.RawQuery = "service=" + q.service
	}
	req, err := http.NewRequestWithContext(ctx, method, target.String(), q.body)
	if err != nil {
		return nil, fmt.Errorf("%s: make request: %w", q.op, dropURL(err))
	}
	req.Header.Set("User-Agent", "git/2.0 (sia)")
	req.Header.Set("Accept", q.answer())
	if q.body != nil {
		req.ContentLength = q.size
		req.Header.Set("Content-Type", "application/x-"+q.service+"-request")
	}
	if q.v2 {
		req.Header.Set("Git-Protocol", "version=2")
	}
	if c.remote.Token != nil {
		req.SetBasicAuth("x-access-token", secret)
	}
	if q.service == "git-receive-pack" && q.body != nil {
		if err := c.cache.mayPush(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", q.op, err)
		}
	}
	resp, err := c.cache.http.Do(req)
	if err != nil {
		return nil, c.networkError(ctx, q.op, err)
	}
	return resp, nil
}

// answer is the media type of git's answer.
func (q gitRequest) answer() string {
	if q.body == nil {
		return "application/x-" + q.service + "-advertisement"
	}
	return "application/x-" + q.service + "-result"
}

// isGitAnswer reports whether an answer has git's media type.
func isGitAnswer(resp *http.Response, q gitRequest) bool {
	return resp.StatusCode == http.StatusOK && resp.Header.Get("Content-Type") == q.answer()
}

// otherToken returns another token for a retry of the exchange; "" when there is none, or when the request can't be
// sent again.
func (c *client) otherToken(
	ctx context.Context, q gitRequest, resp *http.Response, refused string, expired bool,
) (string, error) {
	if !expired && resp.StatusCode != http.StatusNotFound || c.remote.Other == nil || refused == "" {
		return "", nil
	}
	if q.body != nil {
		body, ok := q.body.(io.Seeker)
		if !ok {
			return "", nil
		}
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return "", fmt.Errorf("%s: read the request again: %w", q.op, err)
		}
	}
	other, err := c.remote.Other(ctx, refused, expired)
	if err != nil {
		return "", fmt.Errorf("%s %s: get another token: %w", q.op, c.url.String(), err)
	}
	return other, nil
}

// networkError wraps the error of an exchange that broke off.
func (c *client) networkError(ctx context.Context, op string, err error) error {
	if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil {
		err = cause
	}
	return &NetworkError{Op: op, URL: c.url.String(), Err: dropURL(err)}
}

// readError classifies an error while reading an answer.
func (c *client) readError(ctx context.Context, op string, err error) error {
	var said *remoteError
	var path *os.PathError
	switch {
	case errors.As(err, &said), errors.Is(err, ErrTooLarge):
		return fmt.Errorf("%s %s: %w", op, c.url.String(), err)
	case errors.Is(err, errPkt):
		return &ServerError{Op: op, URL: c.url.String(), Status: 200, Detail: err.Error()}
	case errors.As(err, &path):
		return fmt.Errorf("%s: %w", op, err)
	default:
		return c.networkError(ctx, op, err)
	}
}

// dropURL removes the URL that net/http puts into its errors.
func dropURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// followRename follows the redirects of a renamed repository: only to another path on the same host, because the
// credentials are sent along, and only for the server's advertisement, because later requests go to the address that
// answered it.
func followRename(req *http.Request, via []*http.Request) error {
	first := via[0]
	if first.Method != http.MethodGet || len(via) > maxRedirects || req.URL.Scheme != first.URL.Scheme ||
		req.URL.Host != first.URL.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

// refusalError turns an answer that is not git's into an error.
func (c *client) refusalError(op string, resp *http.Response, secret string) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 2<<10))
	text := string(body)
	if strings.Contains(resp.Header.Get("Content-Type"), "html") {
		text = "" // an HTML page says no more than the status
	}
	if secret != "" {
		text = strings.ReplaceAll(text, secret, "***")
	}
	text = cleanText(text, 300)
	wait := retryAfter(resp.Header, c.cache.now())
	switch code := resp.StatusCode; {
	case code >= 300 && code < 400:
		return &ServerError{Op: op, URL: c.url.String(), Status: code, Detail: "it redirects to another host, or without " +
			"end"}
	case code == http.StatusUnauthorized, code == http.StatusForbidden && wait == 0:
		return &AuthError{Op: op, URL: c.url.String(), Status: code, Detail: text}
	case code == http.StatusNotFound, code == http.StatusGone:
		return &NotFoundError{Op: op, URL: c.url.String(), What: "repository", Detail: text}
	case code == http.StatusOK:
		return &ServerError{Op: op, URL: c.url.String(), Status: code, Detail: "the answer is not git's; is the URL a " +
			"repository's?"}
	default:
		return &ServerError{Op: op, URL: c.url.String(), Status: code, RetryAfter: wait, Detail: text}
	}
}

// retryAfter reads a Retry-After header, in seconds or as a date: at most a day.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := h.Get("Retry-After")
	if s, err := strconv.Atoi(v); err == nil && s > 0 {
		return time.Duration(min(s, int(maxRetryAfter/time.Second))) * time.Second
	}
	if t, err := http.ParseTime(v); err == nil && t.After(now) {
		return min(t.Sub(now), maxRetryAfter)
	}
	return 0
}

// retry calls an idempotent read until it succeeds, fails permanently, or maxTries is reached.
func (c *client) retry(ctx context.Context, read func() error) error {
	for try := 1; ; try++ {
		err := read()
		if err == nil || try == maxTries || ctx.Err() != nil {
			return err
		}
		wait := time.Duration(float64(300*time.Millisecond) * float64(int(1)<<try) * (0.5 + rand.Float64()/2))
		var broke *NetworkError
		var server *ServerError
		switch {
		case errors.As(err, &broke):
		case errors.As(err, &server) && (server.Status == http.StatusTooManyRequests ||
			server.Status == http.StatusForbidden || server.Status >= 500):
			if server.RetryAfter > maxWait {
				return err
			}
			wait = max(wait, server.RetryAfter)
		default:
			return err
		}
		c.cache.log.DebugContext(ctx, "git read failed, trying again", "mirror", c.remote.Key, "try", try, "wait", wait,
			"error", err)
		if c.cache.pause(ctx, wait) != nil {
			return err
		}
	}
}

// pauseFor waits for d or the end of ctx.
func pauseFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

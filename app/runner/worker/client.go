package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/runner"
)

// Bounds of what is read and waited for.
const (
	askWithin    = runner.LongPoll + 20*time.Second
	beatWithin   = 10 * time.Second
	reportWithin = 40 * time.Second
	resultWithin = 4 * time.Minute
	maxSaid      = 64 << 10 // bytes of an answer that is no attempt
	retryAtMost  = 30 * time.Second
)

// errGone is the cause with which an attempt ends that is no longer this runner's.
var errGone = errors.New("the attempt is no longer this runner's")

// refusal is an answer of the server's that is none of 2xx.
type refusal struct {
	status int
	said   string
	after  time.Duration
}

func (e *refusal) Error() string {
	return fmt.Sprintf("the server answered %d: %s", e.status, e.said)
}

// final reports whether to ask again is of no use.
func (e *refusal) final() bool {
	return e.status >= 400 && e.status < 500 && e.status != http.StatusTooManyRequests &&
		e.status != http.StatusRequestTimeout
}

// client speaks with the server.
type client struct {
	base *url.URL
	http *http.Client
}

// newClient checks the address. plain allows http to another machine.
func newClient(server string, plain bool) (*client, error) {
	u, err := url.Parse(strings.TrimRight(server, "/"))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.User != nil:
		return nil, fmt.Errorf("--server: %q is no address; give one such as https://sia.example.com", server)
	case u.Scheme == "http" && !plain && !isLoopback(u.Hostname()):
		return nil, fmt.Errorf("--server: %s is not encrypted, and the token and the code would cross the network in the "+
			"open; use https, or --plain-http where nobody else is on the network", server)
	}
	// Each request has a context that ends: a model may think for minutes before its answer begins.
	t := http.DefaultTransport.(*http.Transport).Clone()
	return &client{base: u.JoinPath(runner.Prefix), http: &http.Client{Transport: t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ask makes one request. The caller closes the answer's body.
func (c *client) ask(ctx context.Context, method, path, token string, body []byte) (*http.Response, error) {
	to := c.base.String() + path
	req, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
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
	said, _ := io.ReadAll(io.LimitReader(resp.Body, maxSaid))
	e := &refusal{status: resp.StatusCode, said: http.StatusText(resp.StatusCode)}
	var v struct{ Error struct{ Message string } }
	if json.Unmarshal(said, &v) == nil && v.Error.Message != "" {
		e.said = v.Error.Message
	}
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 {
		e.after = min(time.Duration(n)*time.Second, retryAtMost)
	}
	if e.status == http.StatusGone {
		return nil, errors.Join(errGone, e)
	}
	return nil, e
}

// tell makes a request and reads its short answer into v, where that is not nil.
func (c *client) tell(ctx context.Context, within time.Duration, path, token string, body []byte, v any) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	resp, err := c.ask(ctx, http.MethodPost, path, token, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, maxSaid))
	if err == nil && v != nil {
		err = json.Unmarshal(said, v)
	}
	return err
}

// insist tells until the server has heard, refuses for good, or ctx ends.
func (c *client) insist(ctx context.Context, within time.Duration, path, token string, body []byte, v any) error {
	for pause := time.Second / 4; ; pause = min(2*pause, 4*time.Second) {
		err := c.tell(ctx, within, path, token, body, v)
		var r *refusal
		if err == nil || errors.Is(err, errGone) || errors.As(err, &r) && r.final() {
			return err
		}
		wait := pause
		if r != nil {
			wait = max(wait, r.after)
		}
		if !sleep(ctx, wait) {
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// sleep reports whether ctx lives on afterwards.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// next asks for an attempt; nil: none came while the server let it wait.
func (c *client) next(ctx context.Context, token, about string) (*runner.Offer, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*askWithin)
	defer cancel()
	resp, err := c.ask(ctx, http.MethodPost, runner.NextPath, token, []byte(about))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNoContent {
		return nil, nil //nolint:nilnil // that there is none is an answer
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, runner.MaxWork+1<<20))
	if err != nil {
		return nil, err
	}
	var o runner.Offer
	if err := json.Unmarshal(b, &o); err != nil {
		return nil, fmt.Errorf("the server's answer is no attempt; is --server the address of SIA itself? %w", err)
	}
	return &o, nil
}

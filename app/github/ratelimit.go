package github

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

const (
	// maxConcurrent is the maximum number of concurrent requests of one installation. GitHub allows 100, shared with
	// everything else that the installation does:
	// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
	maxConcurrent = 32
	// secondaryWait is the wait after a secondary rate limit without a Retry-After; GitHub asks for at least a minute.
	secondaryWait = time.Minute
	// maxServerWait is the maximum wait that a response can ask for: GitHub counts by the hour.
	maxServerWait = time.Hour + time.Minute
	// allResources is the key under which a secondary limit blocks all requests.
	allResources = ""
	// graphqlResource is the resource of GraphQL requests.
	graphqlResource = "graphql"
)

// rateLimits tracks the rate limits of one installation. GitHub counts by installation, so that one at its limit
// doesn't delay another.
type rateLimits struct {
	slots chan struct{}

	mu        sync.Mutex
	until     map[string]time.Time // by x-ratelimit-resource
	remaining map[string]RateLimit // latest from GitHub, by x-ratelimit-resource
}

func newRateLimits() *rateLimits {
	return &rateLimits{slots: make(chan struct{}, maxConcurrent), until: map[string]time.Time{},
		remaining: map[string]RateLimit{}}
}

// RateLimit is the state of one of an installation's rate limits, from GitHub's latest response.
type RateLimit struct {
	Installation int64
	Resource     string // requests that are counted together, such as core or graphql
	Limit        int    // requests an hour; graphql: points
	Remaining    int    // requests or points that remain
	Resets       time.Time
}

// RateLimits returns the limits of all installations that were used, in no particular order.
func (a *App) RateLimits() (all []RateLimit) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, in := range a.installations {
		in.limits.mu.Lock()
		for _, l := range in.limits.remaining {
			l.Installation = in.id
			all = append(all, l)
		}
		in.limits.mu.Unlock()
	}
	return all
}

// maxResources is the maximum number of resources to track; GitHub has a dozen.
const maxResources = 32

// record stores the limit of a resource. It ignores values that GitHub doesn't send, such as text.
func (l *rateLimits) record(resource, limit, left, reset string) {
	of, err1 := strconv.Atoi(limit)
	n, err2 := strconv.Atoi(left)
	at, ok := parseSeconds(reset)
	if err1 != nil || err2 != nil || !ok || of < 0 || n < 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.remaining[resource]; known || len(l.remaining) < maxResources {
		l.remaining[resource] = RateLimit{Resource: resource, Limit: of, Remaining: n,
			Resets: time.Unix(int64(at/time.Second), 0)}
	}
}

// blockedUntil returns the time until which a resource is blocked; zero: it is not.
func (l *rateLimits) blockedUntil(resource string) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.until[resource]
	if all := l.until[allResources]; all.After(t) {
		t = all
	}
	return t
}

func (l *rateLimits) block(resource string, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if until.After(l.until[resource]) {
		l.until[resource] = until
	}
}

// rateLimitError reports a rate limit that lasts longer than [maxWait] or the request's deadline.
type rateLimitError struct {
	resource string
	until    time.Time
	wait     time.Duration
}

func (e *rateLimitError) Error() string {
	return fmt.Sprintf("rate limit of %s holds until %s", e.resource, e.until.UTC().Format(time.RFC3339))
}

// rateLimiter respects the primary and secondary rate limits of an installation, and spaces writes. It sleeps through
// a short wait and sends the request again. A longer wait ends the request with a rateLimitError.
//
// The available library for this sleeps by the wall clock, and retries a request without its body.
//
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
type rateLimiter struct {
	app          *App
	installation int64
	next         http.RoundTripper
	limits       *rateLimits
	pacer        *writePacer // nil: the requests write to no repository
}

func (l *rateLimiter) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if l.pacer != nil && isWrite(req) {
		done, err := l.pacer.enter(ctx)
		if err != nil {
			closeBody(req)
			return nil, fmt.Errorf("%w: %w", errWriteQueue, err)
		}
		defer done()
	}
	resource := resourceOf(req)
	for try := 1; ; try++ {
		if err := l.wait(ctx, resource); err != nil {
			closeBody(req)
			return nil, err
		}
		resp, err := l.send(req)
		if err != nil {
			return nil, err
		}
		until, limited := l.observe(resource, resp)
		if !limited {
			return resp, nil
		}
		discard(resp)
		again, ok := rewind(req)
		if try == maxTries || !ok {
			return nil, l.limitError(resource, until)
		}
		req = again
	}
}

// send sends req once fewer than [maxConcurrent] others are in flight.
func (l *rateLimiter) send(req *http.Request) (*http.Response, error) {
	select {
	case l.limits.slots <- struct{}{}:
	case <-req.Context().Done():
		closeBody(req)
		return nil, req.Context().Err()
	}
	defer func() { <-l.limits.slots }()
	return l.next.RoundTrip(req)
}

// wait sleeps until resource is no longer blocked.
func (l *rateLimiter) wait(ctx context.Context, resource string) error {
	until := l.limits.blockedUntil(resource)
	d := until.Sub(l.app.cfg.Now())
	if d <= 0 {
		return nil
	}
	if deadline, ok := ctx.Deadline(); d > maxWait || (ok && d > time.Until(deadline)) {
		return l.limitError(resource, until)
	}
	l.app.log.InfoContext(ctx, "waiting for GitHub's rate limit",
		"installation", l.installation, "resource", resource, "wait", d)
	return l.app.cfg.Sleep(ctx, d)
}

func (l *rateLimiter) limitError(resource string, until time.Time) error {
	return &rateLimitError{resource: resource, until: until, wait: max(until.Sub(l.app.cfg.Now()), time.Second)}
}

// observe records the limits in a response, and reports whether the response is a refusal because of one. It removes
// the headers: go-github would track the limits too, by the wall clock.
func (l *rateLimiter) observe(resource string, resp *http.Response) (until time.Time, limited bool) {
	requested, h := resource, resp.Header
	remaining, reset := h.Get("X-Ratelimit-Remaining"), h.Get("X-Ratelimit-Reset")
	if r := h.Get("X-Ratelimit-Resource"); r != "" {
		resource = r
	}
	l.limits.record(resource, h.Get("X-Ratelimit-Limit"), remaining, reset)
	h.Del("X-Ratelimit-Remaining")
	h.Del("X-Ratelimit-Reset")
	now := l.app.cfg.Now()

	if requested == graphqlResource && resp.StatusCode == http.StatusOK {
		if until, limited = l.observeGraphQL(resp, reset); limited {
			return until, true
		}
	}
	refused := resp.StatusCode == http.StatusForbidden || resp.StatusCode == http.StatusTooManyRequests ||
		resp.StatusCode == http.StatusUnprocessableEntity && mentionsRateLimit(resp)
	if after, ok := parseRetryAfter(h.Get("Retry-After"), now); ok && refused {
		until = now.Add(after)
		l.limits.block(allResources, until)
		return until, true
	}
	if remaining == "0" {
		at, ok := parseSeconds(reset)
		switch {
		case ok:
			until = time.Unix(int64(at/time.Second), 0)
			if until.After(now.Add(maxServerWait)) { // the clocks differ: GitHub counts by the hour
				until = now.Add(maxServerWait)
			}
			if refused && until.Before(now.Add(time.Second)) { // the clocks differ
				until = now.Add(time.Second)
			}
		case refused:
			until = now.Add(secondaryWait)
		}
		if !until.IsZero() {
			l.limits.block(resource, until)
			return until, refused
		}
	}
	if resp.StatusCode == http.StatusTooManyRequests || (refused && mentionsRateLimit(resp)) {
		until = now.Add(secondaryWait)
		l.limits.block(allResources, until)
		return until, true
	}
	return time.Time{}, false
}

// observeGraphQL is observe for a response with status 200 and a refusal in its body, which GraphQL sends for both
// kinds of limit. The primary one blocks GraphQL alone: REST has its own limit, whatever the headers report as
// remaining.
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#exceeding-the-rate-limit
// https://github.com/octokit/plugin-throttling.js/pull/636
func (l *rateLimiter) observeGraphQL(resp *http.Response, reset string) (until time.Time, limited bool) {
	var answer struct {
		Errors []struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"errors"`
	}
	if body, complete := peekBody(resp); !complete || json.Unmarshal(body, &answer) != nil {
		return until, false
	}
	now := l.app.cfg.Now()
	for _, e := range answer.Errors {
		primary := strings.HasPrefix(e.Type, "RATE_LIMIT") && !strings.Contains(e.Message, "secondary") // or RATE_LIMITED
		if !primary && !rateLimitPattern.MatchString(e.Message) {
			continue
		}
		resource, wait := allResources, secondaryWait
		at, told := parseSeconds(reset)
		if after, ok := parseRetryAfter(resp.Header.Get("Retry-After"), now); ok {
			wait = after
		} else if primary && told {
			wait = min(max(time.Unix(int64(at/time.Second), 0).Sub(now), time.Second), maxServerWait)
		}
		if primary {
			resource = graphqlResource
		}
		until = now.Add(wait)
		l.limits.block(resource, until)
		return until, true
	}
	return until, false
}

// rateLimitPattern matches the message of a rate limit. Content that is created too quickly gets a 422, like invalid
// content.
// https://github.com/octokit/plugin-throttling.js/issues/775
var rateLimitPattern = lazyregexp.New(`(?i)secondary rate limit|abuse detection|rate limit (?:already )?exceeded|` +
	`"code":\s*"abuse"|was submitted too quickly`)

// mentionsRateLimit reports whether the message of a refusal is about a rate limit: a secondary one, or a primary one
// without its headers.
func mentionsRateLimit(resp *http.Response) bool {
	body, _ := peekBody(resp)
	return rateLimitPattern.Match(body)
}

// peekBody returns the first [maxRefusal] bytes of a body, which stays readable. complete is false if there are more.
func peekBody(resp *http.Response) (body []byte, complete bool) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	resp.Body = closingReader{io.MultiReader(bytes.NewReader(body), resp.Body), resp.Body.Close}
	return body, err == nil && len(body) < maxRefusal
}

// parseRetryAfter reads a Retry-After header, bounded to between a second and [maxServerWait].
func parseRetryAfter(s string, now time.Time) (time.Duration, bool) {
	wait, ok := text.RetryAfter(s, now)
	return min(max(wait, time.Second), maxServerWait), ok
}

// parseSeconds reads a header that holds a whole number of seconds.
func parseSeconds(s string) (time.Duration, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > 1<<33 {
		return 0, false
	}
	return time.Duration(n) * time.Second, true
}

// resourceOf returns the rate limit that a request counts against.
func resourceOf(req *http.Request) string {
	if strings.HasSuffix(req.URL.Path, "/graphql") {
		return graphqlResource
	}
	return "core"
}

// isWrite reports whether a request writes to a repository.
func isWrite(req *http.Request) bool {
	return req.Method != http.MethodGet && req.Method != http.MethodHead &&
		!isReadOnly(req) && !strings.HasSuffix(req.URL.Path, "/access_tokens")
}

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
	// maxConcurrent bounds the requests of one installation that are under way at
	// once. GitHub allows 100, shared with everything else the installation does:
	// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
	maxConcurrent = 32
	// secondaryWait is how long to keep still after a secondary rate limit that
	// did not say; GitHub asks for at least a minute.
	secondaryWait = time.Minute
	// longestWait bounds what an answer can ask to wait: GitHub counts by the hour.
	longestWait = time.Hour + time.Minute
	// everyResource is the key under which a secondary limit holds all requests.
	everyResource = ""
	// graphqlResource is what GraphQL requests are counted as.
	graphqlResource = "graphql"
)

// rateLimits is what one installation knows about its rate limits. GitHub counts
// per installation, so one that is held up doesn't hold up another.
type rateLimits struct {
	slots chan struct{}

	mu    sync.Mutex
	until map[string]time.Time // by x-ratelimit-resource
	left  map[string]RateLimit // as GitHub last said, by the same
}

func newRateLimits() *rateLimits {
	return &rateLimits{slots: make(chan struct{}, maxConcurrent), until: map[string]time.Time{},
		left: map[string]RateLimit{}}
}

// RateLimit is what an installation may still ask of GitHub, as its last answer said.
type RateLimit struct {
	Installation int64
	Resource     string // what is counted together, such as core or graphql
	Limit        int    // requests an hour, of graphql points
	Left         int    // of them
	Resets       time.Time
}

// RateLimits are the limits of all installations that were asked for something, in no order.
func (a *App) RateLimits() (all []RateLimit) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, in := range a.installations {
		in.limits.mu.Lock()
		for _, l := range in.limits.left {
			l.Installation = in.id
			all = append(all, l)
		}
		in.limits.mu.Unlock()
	}
	return all
}

// maxResources bounds the names of resources that are kept; GitHub has a dozen.
const maxResources = 32

// note keeps what an answer says of a resource. What is no number is no answer of GitHub's.
func (l *rateLimits) note(resource, limit, left, reset string) {
	of, err1 := strconv.Atoi(limit)
	n, err2 := strconv.Atoi(left)
	at, ok := headerSeconds(reset)
	if err1 != nil || err2 != nil || !ok || of < 0 || n < 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.left[resource]; known || len(l.left) < maxResources {
		l.left[resource] = RateLimit{Resource: resource, Limit: of, Left: n, Resets: time.Unix(int64(at/time.Second), 0)}
	}
}

// held returns until when a resource may not be asked; zero when it may.
func (l *rateLimits) held(resource string) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.until[resource]
	if all := l.until[everyResource]; all.After(t) {
		t = all
	}
	return t
}

func (l *rateLimits) hold(resource string, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if until.After(l.until[resource]) {
		l.until[resource] = until
	}
}

// rateLimitError says that a rate limit holds for longer than is worth waiting.
type rateLimitError struct {
	resource string
	until    time.Time
	wait     time.Duration
}

func (e *rateLimitError) Error() string {
	return fmt.Sprintf("rate limit of %s holds until %s", e.resource, e.until.UTC().Format(time.RFC3339))
}

// rateLimiter honours the primary and secondary rate limits of an installation and
// spaces writes. A wait that is short enough is slept and the request sent
// again; otherwise the request ends in a rateLimitError.
//
// The limits could be left to a library; the one there is sleeps by the wall
// clock, and sends a request again without its body.
//
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
type rateLimiter struct {
	app          *App
	installation int64
	next         http.RoundTripper
	limits       *rateLimits
	pacer        pacer
}

func (l *rateLimiter) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if mutates(req) {
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
		until, limited := l.learn(resource, resp)
		if !limited {
			return resp, nil
		}
		discard(resp)
		again, ok := rewound(req)
		if try == maxTries || !ok {
			return nil, l.tooLong(resource, until)
		}
		req = again
	}
}

// send sends req when fewer than concurrency others are under way.
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

// wait sleeps until resource may be asked.
func (l *rateLimiter) wait(ctx context.Context, resource string) error {
	until := l.limits.held(resource)
	d := until.Sub(l.app.cfg.Now())
	if d <= 0 {
		return nil
	}
	if deadline, ok := ctx.Deadline(); d > maxWait || (ok && d > time.Until(deadline)) {
		return l.tooLong(resource, until)
	}
	l.app.log.InfoContext(ctx, "waiting for GitHub's rate limit",
		"installation", l.installation, "resource", resource, "wait", d)
	return l.app.cfg.Sleep(ctx, d)
}

func (l *rateLimiter) tooLong(resource string, until time.Time) error {
	return &rateLimitError{resource: resource, until: until, wait: max(until.Sub(l.app.cfg.Now()), time.Second)}
}

// learn takes in what an answer says about the limits, and reports whether it
// refuses the request because of one. The headers are taken off: the client
// above would keep an account of its own by them, and by the wall clock.
func (l *rateLimiter) learn(resource string, resp *http.Response) (until time.Time, limited bool) {
	asked, h := resource, resp.Header
	remaining, reset := h.Get("X-Ratelimit-Remaining"), h.Get("X-Ratelimit-Reset")
	if r := h.Get("X-Ratelimit-Resource"); r != "" {
		resource = r
	}
	l.limits.note(resource, h.Get("X-Ratelimit-Limit"), remaining, reset)
	h.Del("X-Ratelimit-Remaining")
	h.Del("X-Ratelimit-Reset")
	now := l.app.cfg.Now()

	if asked == graphqlResource && resp.StatusCode == http.StatusOK {
		if until, limited = l.learnOfGraphQL(resp, reset); limited {
			return until, true
		}
	}
	refused := resp.StatusCode == http.StatusForbidden || resp.StatusCode == http.StatusTooManyRequests ||
		resp.StatusCode == http.StatusUnprocessableEntity && saysLimit(resp)
	if after, ok := retryAfter(h.Get("Retry-After"), now); ok && refused {
		until = now.Add(after)
		l.limits.hold(everyResource, until)
		return until, true
	}
	if remaining == "0" {
		at, ok := headerSeconds(reset)
		switch {
		case ok:
			until = time.Unix(int64(at/time.Second), 0)
			if until.After(now.Add(longestWait)) { // the clocks differ: GitHub counts by the hour
				until = now.Add(longestWait)
			}
			if refused && until.Before(now.Add(time.Second)) { // the clocks differ
				until = now.Add(time.Second)
			}
		case refused:
			until = now.Add(secondaryWait)
		}
		if !until.IsZero() {
			l.limits.hold(resource, until)
			return until, refused
		}
	}
	if resp.StatusCode == http.StatusTooManyRequests || (refused && saysLimit(resp)) {
		until = now.Add(secondaryWait)
		l.limits.hold(everyResource, until)
		return until, true
	}
	return time.Time{}, false
}

// learnOfGraphQL is learn for an answer of 200 that holds a refusal: GraphQL says so of both limits. The primary one
// holds GraphQL alone, for REST has its own, whatever is said to be left of it.
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#exceeding-the-rate-limit
// https://github.com/octokit/plugin-throttling.js/pull/636
func (l *rateLimiter) learnOfGraphQL(resp *http.Response, reset string) (until time.Time, limited bool) {
	var answer struct {
		Errors []struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"errors"`
	}
	if body, whole := beginning(resp); !whole || json.Unmarshal(body, &answer) != nil {
		return until, false
	}
	now := l.app.cfg.Now()
	for _, e := range answer.Errors {
		primary := strings.HasPrefix(e.Type, "RATE_LIMIT") && !strings.Contains(e.Message, "secondary") // or RATE_LIMITED
		if !primary && !limitWords.MatchString(e.Message) {
			continue
		}
		resource, wait := everyResource, secondaryWait
		at, told := headerSeconds(reset)
		if after, ok := retryAfter(resp.Header.Get("Retry-After"), now); ok {
			wait = after
		} else if primary && told {
			wait = min(max(time.Unix(int64(at/time.Second), 0).Sub(now), time.Second), longestWait)
		}
		if primary {
			resource = graphqlResource
		}
		until = now.Add(wait)
		l.limits.hold(resource, until)
		return until, true
	}
	return until, false
}

// limitWords match the message of a rate limit. Content that comes too fast gets a 422, as if it were not valid.
// https://github.com/octokit/plugin-throttling.js/issues/775
var limitWords = lazyregexp.New(`(?i)secondary rate limit|abuse detection|rate limit (?:already )?exceeded|` +
	`"code":\s*"abuse"|was submitted too quickly`)

// saysLimit reports whether a refusal is about a rate limit in its words: a
// secondary one, or a primary one without its headers.
func saysLimit(resp *http.Response) bool {
	body, _ := beginning(resp)
	return limitWords.Match(body)
}

// beginning is a body as far as a refusal goes, which is put back; whole is false where it goes on.
func beginning(resp *http.Response) (body []byte, whole bool) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	resp.Body = closingReader{io.MultiReader(bytes.NewReader(body), resp.Body), resp.Body.Close}
	return body, err == nil && len(body) < maxRefusal
}

// retryAfter reads a Retry-After header: from a second up to [longestWait].
func retryAfter(s string, now time.Time) (time.Duration, bool) {
	wait, ok := text.RetryAfter(s, now)
	return min(max(wait, time.Second), longestWait), ok
}

// headerSeconds reads a header that holds a whole number of seconds.
func headerSeconds(s string) (time.Duration, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > 1<<33 {
		return 0, false
	}
	return time.Duration(n) * time.Second, true
}

// resourceOf is the rate limit that a request counts against.
func resourceOf(req *http.Request) string {
	if strings.HasSuffix(req.URL.Path, "/graphql") {
		return graphqlResource
	}
	return "core"
}

// mutates reports whether a request is a write to a repository.
func mutates(req *http.Request) bool {
	return req.Method != http.MethodGet && req.Method != http.MethodHead &&
		!onlyReads(req) && !strings.HasSuffix(req.URL.Path, "/access_tokens")
}

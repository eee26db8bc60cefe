package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// requestTimeout is the time limit of one request.
const requestTimeout = 30 * time.Second

// Try is one run of one probe. After a difference, or if the fact can't be tried, its methods do nothing and return
// zero values.
type Try struct {
	*Bench
	ctx    context.Context //nolint:containedctx // a try is the call
	result *Result
	err    error
}

// errDone ends a try with a known result.
var errDone = errors.New("the result is known")

// ok reports whether the try continues.
func (t *Try) ok() bool { return t.err == nil }

// Skip ends the try with the verdict [NotTried].
func (t *Try) Skip(why string) {
	if t.ok() {
		t.result.Verdict, t.result.Why, t.err = NotTried, why, errDone
	}
}

// Differ ends the try with the verdict [Differs].
func (t *Try) Differ(expected, answered string) {
	if t.ok() {
		t.result.Verdict, t.result.Expected, t.result.Answered, t.err = Differs, expected, answered, errDone
	}
}

// fail ends the try because of a failure that is unrelated to the fact.
func (t *Try) fail(err error) {
	if t.ok() {
		t.result.Verdict, t.result.Why, t.result.Broken, t.err = NotTried, err.Error(), true, err
	}
}

// Equal expects a value.
func (t *Try) Equal(what string, got, want any) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Differ(fmt.Sprintf("%s: %v", what, want), fmt.Sprintf("%v", orNothing(got)))
	}
}

func orNothing(v any) any {
	if s := fmt.Sprint(v); s == "" || v == nil {
		return "nothing"
	}
	return v
}

// That expects a condition, described by expected.
func (t *Try) That(ok bool, expected, answered string, args ...any) {
	if !ok {
		t.Differ(expected, fmt.Sprintf(answered, args...))
	}
}

// Want expects one of some statuses.
func (t *Try) Want(a Answer, statuses ...int) Answer {
	if t.ok() && !slices.Contains(statuses, a.Status) {
		t.Differ(fmt.Sprintf("%s answers %s", a.asked, joinStatuses(statuses)), a.String())
	}
	return a
}

func joinStatuses(statuses []int) string {
	var all []string
	for _, s := range statuses {
		all = append(all, fmt.Sprint(s))
	}
	return strings.Join(all, " or ")
}

// Until polls until a condition is true, for at most a minute and a half.
func (t *Try) Until(expected string, condition func() bool) {
	if !t.poll(condition) {
		t.Differ(expected, fmt.Sprintf("not after %s", polls*pollEvery))
	}
}

// poll polls until a condition is true or the try has ended. It returns false after the time limit.
func (t *Try) poll(condition func() bool) bool {
	for range polls {
		if !t.ok() || condition() {
			return true
		}
		if err := t.options.Sleep(t.ctx, pollEvery); err != nil {
			t.fail(err)
		}
	}
	return false
}

// The number of polls, and the interval between two.
const (
	polls     = 30
	pollEvery = 3 * time.Second
)

// Get reads a path below the repository.
func (t *Try) Get(path string, args ...any) Answer {
	return t.do(t.network, http.MethodGet, t.repoURL(fmt.Sprintf(path, args...)), nil, nil)
}

// GetWith is Get with headers.
func (t *Try) GetWith(header http.Header, path string, args ...any) Answer {
	return t.do(t.network, http.MethodGet, t.repoURL(fmt.Sprintf(path, args...)), header, nil)
}

// Send writes to a path below the repository.
func (t *Try) Send(method, path string, body any) Answer {
	return t.do(t.network, method, t.repoURL(path), nil, body)
}

// Post is Send with the method POST.
func (t *Try) Post(path string, body any) Answer { return t.Send(http.MethodPost, path, body) }

// GraphQL sends a query on the repository. Its variables include owner and name.
func (t *Try) GraphQL(query string, variables map[string]any) Answer {
	values := map[string]any{"owner": t.raw.Repo.Owner, "name": t.raw.Repo.Name}
	for k, v := range variables {
		values[k] = v
	}
	return t.Want(t.do(t.network, http.MethodPost, t.raw.GraphQL, nil,
		map[string]any{"query": query, "variables": values}), http.StatusOK)
}

// AsApp sends a request as the app.
func (t *Try) AsApp(method, path string, body any) Answer {
	return t.do(t.raw.AsApp, method, t.raw.API+path, nil, body)
}

// With sends a request with another token.
func (t *Try) With(token, method, path string, body any) Answer {
	return t.do(tokenAuth{t.raw.Network, token}, method, t.repoURL(path), nil, body)
}

// repoURL returns the URL of a path below the repository.
func (b *Bench) repoURL(path string) string { return b.raw.API + "repos/" + b.raw.Repo.String() + path }

// do sends one request of a fact.
func (t *Try) do(via http.RoundTripper, method, address string, header http.Header, body any) Answer {
	if !t.ok() {
		return Answer{}
	}
	if method != http.MethodGet {
		if err := t.pace(t.ctx); err != nil {
			t.fail(err)
			return Answer{}
		}
	}
	a, err := t.exchange(t.ctx, via, method, address, header, body)
	if err != nil {
		t.fail(err)
		return Answer{}
	}
	if t.options.Record {
		t.result.Exchanges = append(t.result.Exchanges, a.exchange(t.masker))
	}
	return a
}

// exchange sends a request, and retries it after a rate limit or a server error.
func (b *Bench) exchange(ctx context.Context, via http.RoundTripper, method, address string, header http.Header,
	body any,
) (Answer, error) {
	sent, raw := body.([]byte) // not JSON
	if body != nil && !raw {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			return Answer{}, err
		}
	}
	path := "/" + strings.TrimPrefix(address, b.raw.API)
	for attempt := 1; ; attempt++ {
		a, err := b.send(ctx, via, method, address, header, sent)
		if err != nil {
			return Answer{}, fmt.Errorf("%s %s: %w", method, path, err)
		}
		a.asked, a.sent = method+" "+path, sent
		wait, again := a.retryAfter(method)
		if !again || attempt == 3 {
			return a, nil
		}
		if err := b.options.Sleep(ctx, wait); err != nil {
			return Answer{}, err
		}
	}
}

// retryAfter reports whether a request should be retried, and after how long.
func (a Answer) retryAfter(method string) (time.Duration, bool) {
	if after := a.Header.Get("Retry-After"); after != "" && (a.Status == 403 || a.Status == 429) {
		if wait, err := time.ParseDuration(after + "s"); err == nil && wait <= 2*time.Minute {
			return wait, true
		}
	}
	return pollEvery, method == http.MethodGet && a.Status >= 500
}

// send sends a request once, unless ctx has ended. It does not cancel a write in flight: an object that it created
// would be unknown, and remain.
func (b *Bench) send(ctx context.Context, via http.RoundTripper, method, address string, header http.Header,
	body []byte,
) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	if method != http.MethodGet {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("X-GitHub-Api-Version", apiVersion)
	req.Header.Set("User-Agent", "sia-probe")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := via.RoundTrip(req) // a transport does not follow redirects
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	a := Answer{Status: resp.StatusCode, Header: resp.Header}
	if a.Body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer)); err != nil {
		return Answer{}, err
	}
	numbers := json.NewDecoder(bytes.NewReader(a.Body))
	numbers.UseNumber()
	if err := numbers.Decode(&a.value); err != nil {
		a.value = nil // not JSON
	}
	return a, nil
}

// apiVersion is the REST API version that SIA requests.
const apiVersion = "2022-11-28"

// tokenAuth authenticates requests with a token.
type tokenAuth struct {
	next  http.RoundTripper
	token string
}

func (s tokenAuth) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+s.token)
	return s.next.RoundTrip(req)
}

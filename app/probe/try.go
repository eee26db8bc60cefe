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

// requestFor is how long one request may take.
const requestFor = 30 * time.Second

// Try is one run of one probe. Once something differs, or could not be tried, its methods do nothing and return
// nothing.
type Try struct {
	*Bench
	ctx    context.Context //nolint:containedctx // a try is the call
	result *Result
	err    error
}

// errEnded ends a try once its result is known.
var errEnded = errors.New("the result is known")

// ok reports whether the try goes on.
func (t *Try) ok() bool { return t.err == nil }

// Skip ends the try as not tried.
func (t *Try) Skip(why string) {
	if t.ok() {
		t.result.Verdict, t.result.Why, t.err = NotTried, why, errEnded
	}
}

// Differ ends the try with what was expected and what was answered instead.
func (t *Try) Differ(expected, answered string) {
	if t.ok() {
		t.result.Verdict, t.result.Expected, t.result.Answered, t.err = Differs, expected, answered, errEnded
	}
}

// fail ends the try because something failed that is nobody's fact.
func (t *Try) fail(err error) {
	if t.ok() {
		t.result.Verdict, t.result.Why, t.result.Broken, t.err = NotTried, err.Error(), true, err
	}
}

// Equal expects a value.
func (t *Try) Equal(what string, got, want any) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Differ(fmt.Sprintf("%s: %v", what, want), fmt.Sprintf("%v", shown(got)))
	}
}

func shown(v any) any {
	if s := fmt.Sprint(v); s == "" || v == nil {
		return "nothing"
	}
	return v
}

// That expects something that is said in words.
func (t *Try) That(ok bool, expected, answered string, args ...any) {
	if !ok {
		t.Differ(expected, fmt.Sprintf(answered, args...))
	}
}

// Want expects one of some statuses.
func (t *Try) Want(a Answer, statuses ...int) Answer {
	if t.ok() && !slices.Contains(statuses, a.Status) {
		t.Differ(fmt.Sprintf("%s answers %s", a.asked, either(statuses)), a.String())
	}
	return a
}

func either(statuses []int) string {
	var all []string
	for _, s := range statuses {
		all = append(all, fmt.Sprint(s))
	}
	return strings.Join(all, " or ")
}

// Until asks again until something is so, for a minute and a half at most.
func (t *Try) Until(expected string, so func() bool) {
	if !t.within(so) {
		t.Differ(expected, fmt.Sprintf("not after %s", polls*pollEvery))
	}
}

// within asks again until something is so or the fact has failed, and reports false when the time for it is over.
func (t *Try) within(so func() bool) bool {
	for range polls {
		if !t.ok() || so() {
			return true
		}
		if err := t.options.Sleep(t.ctx, pollEvery); err != nil {
			t.fail(err)
		}
	}
	return false
}

// How often something is asked again, and for how long.
const (
	polls     = 30
	pollEvery = 3 * time.Second
)

// Get reads beneath the repository.
func (t *Try) Get(path string, args ...any) Answer {
	return t.do(t.network, http.MethodGet, t.beneath(fmt.Sprintf(path, args...)), nil, nil)
}

// GetWith reads beneath the repository with headers.
func (t *Try) GetWith(header http.Header, path string, args ...any) Answer {
	return t.do(t.network, http.MethodGet, t.beneath(fmt.Sprintf(path, args...)), header, nil)
}

// Send writes beneath the repository.
func (t *Try) Send(method, path string, body any) Answer {
	return t.do(t.network, method, t.beneath(path), nil, body)
}

// Post writes beneath the repository.
func (t *Try) Post(path string, body any) Answer { return t.Send(http.MethodPost, path, body) }

// GraphQL asks a query about the repository: owner and name are among its variables.
func (t *Try) GraphQL(query string, variables map[string]any) Answer {
	values := map[string]any{"owner": t.raw.Repo.Owner, "name": t.raw.Repo.Name}
	for k, v := range variables {
		values[k] = v
	}
	return t.Want(t.do(t.network, http.MethodPost, t.raw.GraphQL, nil,
		map[string]any{"query": query, "variables": values}), http.StatusOK)
}

// AsApp asks as the app itself.
func (t *Try) AsApp(method, path string, body any) Answer {
	return t.do(t.raw.AsApp, method, t.raw.API+path, nil, body)
}

// With asks with another token.
func (t *Try) With(token, method, path string, body any) Answer {
	return t.do(signed{t.raw.Network, token}, method, t.beneath(path), nil, body)
}

// beneath is the whole address of a path of the repository.
func (b *Bench) beneath(path string) string { return b.raw.API + "repos/" + b.raw.Repo.String() + path }

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

// exchange sends a request, and once more what met a rate limit or a server that failed.
func (b *Bench) exchange(ctx context.Context, via http.RoundTripper, method, address string, header http.Header,
	body any,
) (Answer, error) {
	sent, raw := body.([]byte) // what is no JSON
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
		wait, again := a.again(method)
		if !again || attempt == 3 {
			return a, nil
		}
		if err := b.options.Sleep(ctx, wait); err != nil {
			return Answer{}, err
		}
	}
}

// again reports whether an answer is about the moment, and how long that may last.
func (a Answer) again(method string) (time.Duration, bool) {
	if after := a.Header.Get("Retry-After"); after != "" && (a.Status == 403 || a.Status == 429) {
		if wait, err := time.ParseDuration(after + "s"); err == nil && wait <= 2*time.Minute {
			return wait, true
		}
	}
	return pollEvery, method == http.MethodGet && a.Status >= 500
}

// send sends a request once, unless ctx has ended. A write is not cut short when that ends meanwhile: what it made
// would be unknown, and would stay.
func (b *Bench) send(ctx context.Context, via http.RoundTripper, method, address string, header http.Header,
	body []byte,
) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	if method != http.MethodGet {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, requestFor)
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
	resp, err := via.RoundTrip(req) // a transport follows no redirects
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
		a.value = nil // it is no JSON
	}
	return a, nil
}

// apiVersion is the version of REST that SIA asks for.
const apiVersion = "2022-11-28"

// signed signs requests in with a token.
type signed struct {
	next  http.RoundTripper
	token string
}

func (s signed) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+s.token)
	return s.next.RoundTrip(req)
}

package ghsim_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sim/ghsim"
)

func isComment(d ghsim.Delivery) bool { return d.Event == "issue_comment" }

func TestLostDeliveriesCanBeSentAgain(t *testing.T) {
	s := newSim(t, nil)
	n, err := s.OpenIssue(repoName, "dana", "T", "")
	must(t, err)
	s.DropDeliveries(isComment)
	_, err = s.Comment(repoName, n, "dana", "lost")
	must(t, err)
	s.DropDeliveries(nil)
	if es := names(s.settle()); slices.Contains(es, "issue_comment.created") {
		t.Fatalf("a dropped delivery arrived: %v", es)
	}
	c := s.client(s.jwt(nil))
	ds, resp, err := c.Apps.ListHookDeliveries(ctx, &github.ListCursorOptions{PerPage: 2})
	must(t, err)
	if len(ds) != 2 || ds[0].GetEvent() != "issue_comment" || ds[0].GetStatusCode() != 502 || resp.Cursor == "" {
		t.Fatalf("deliveries %v, cursor %q", ds, resp.Cursor)
	}
	more, _, err := c.Apps.ListHookDeliveries(ctx, &github.ListCursorOptions{PerPage: 2, Cursor: resp.Cursor})
	must(t, err)
	if len(more) == 0 || more[0].GetEvent() != "installation" {
		t.Errorf("the next page: %v", more)
	}
	_, _, err = c.Apps.RedeliverHookDelivery(ctx, ds[0].GetID())
	var accepted *github.AcceptedError
	if err != nil && !errors.As(err, &accepted) {
		t.Fatal(err)
	}
	es := s.settle()
	if last := es[len(es)-1]; last.Name != "issue_comment" || last.GUID != ds[0].GetGUID() {
		t.Errorf("sent again: %s %s, want the GUID %s", last.Name, last.GUID, ds[0].GetGUID())
	}
}

func TestDoubledAndReorderedDeliveries(t *testing.T) {
	s := newSim(t, nil)
	n, err := s.OpenIssue(repoName, "dana", "T", "")
	must(t, err)
	s.DuplicateDeliveries(isComment)
	_, err = s.Comment(repoName, n, "dana", "twice")
	must(t, err)
	s.DuplicateDeliveries(nil)
	es := s.settle()
	if a, b := es[len(es)-2], es[len(es)-1]; a.GUID != b.GUID || a.Name != "issue_comment" {
		t.Errorf("the last two are %v", names(es[len(es)-2:]))
	}
	s.HoldDeliveries(isComment)
	for _, text := range []string{"one", "two"} {
		_, err = s.Comment(repoName, n, "dana", text)
		must(t, err)
	}
	s.HoldDeliveries(nil)
	if more := s.settle(); len(more) != len(es) {
		t.Errorf("held deliveries arrived: %v", names(more[len(es):]))
	}
	if n := s.Release(func(ds []ghsim.Delivery) []int { return []int{1, 0} }); n != 2 {
		t.Errorf("released %d", n)
	}
	es = s.settle()
	var texts []string
	for _, e := range es[len(es)-2:] {
		texts = append(texts, e.Payload["comment"].(map[string]any)["body"].(string))
	}
	if !equal(texts, []string{"two", "one"}) {
		t.Errorf("order %v", texts)
	}
}

func TestFailedRequests(t *testing.T) {
	s := newSim(t, nil)
	tok := s.token(nil)
	isPost := func(r *http.Request) bool { return r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/issues") }
	post := func() *http.Response {
		resp, _ := s.do("POST", "/api/v3/repos/acme/shop/issues", tok, `{"title":"T"}`)
		return resp
	}
	s.FailRequests(ghsim.Once(ghsim.Fault{Status: 502, Times: 2}, isPost))
	for _, want := range []int{502, 502, 201} {
		if resp := post(); resp.StatusCode != want {
			t.Errorf("status %d, want %d", resp.StatusCode, want)
		}
	}
	s.ClearFaults()
	s.FailRequests(ghsim.Once(ghsim.SecondaryLimit(30*time.Second, 1), isPost))
	if resp := post(); resp.StatusCode != 403 || resp.Header.Get("Retry-After") != "30" {
		t.Errorf("secondary limit: %d %v", resp.StatusCode, resp.Header)
	}
	s.FailRequests(ghsim.Once(ghsim.Fault{Close: true, After: true}, isPost))
	if resp, err := http.DefaultTransport.RoundTrip(request(t, "POST", s.URL()+"/api/v3/repos/acme/shop/issues", tok,
		`{"title":"lost answer"}`)); err == nil {
		t.Errorf("the connection was not cut: %d", resp.StatusCode)
	}
	is, err := s.Issues(repoName)
	must(t, err)
	if len(is) != 2 || is[1].Title != "lost answer" {
		t.Errorf("issues %v", is)
	}
	faults := 0
	for _, c := range s.Calls() {
		if c.Fault {
			faults++
		}
	}
	if faults != 4 {
		t.Errorf("%d calls answered by faults, want 4", faults)
	}
}

func request(t *testing.T, method, url, token, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	must(t, err)
	r.Header.Set("Authorization", "token "+token)
	return r
}

func TestPrimaryRateLimit(t *testing.T) {
	s := newSim(t, nil)
	c := s.bot()
	s.ExhaustRateLimit(s.inst, "core", s.clock.Now().Add(10*time.Minute))
	_, _, err := c.Repositories.Get(ctx, "acme", "shop")
	var limit *github.RateLimitError
	if !errors.As(err, &limit) || !limit.Rate.Reset.Equal(github.Timestamp{Time: s.clock.Now().Add(10 * time.Minute)}) {
		t.Fatalf("error %v", err)
	}
	s.clock.Advance(11 * time.Minute)
	if resp, _ := s.do("GET", "/api/v3/repos/acme/shop", s.token(nil), ""); resp.StatusCode != 200 ||
		resp.Header.Get("X-RateLimit-Used") != "1" {
		t.Errorf("after the reset: %d, used %s", resp.StatusCode, resp.Header.Get("X-RateLimit-Used"))
	}
}

func TestHookSaysNo(t *testing.T) {
	s := newSim(t, nil)
	s.mu.Lock()
	s.answer = func(e event) int {
		if e.Name == "issues" {
			return 500
		}
		return 202
	}
	s.mu.Unlock()
	_, err := s.OpenIssue(repoName, "dana", "T", "")
	must(t, err)
	s.settle()
	ds := s.Deliveries()
	if last := ds[len(ds)-1]; last.StatusCode != 500 || last.Status != "Invalid HTTP Response: 500" {
		t.Errorf("delivery %+v", last)
	}
	must(t, s.SetWebhook(s.app.ID, "", ""))
	_, err = s.OpenIssue(repoName, "dana", "T", "")
	must(t, err)
	if n := len(s.Deliveries()); n != len(ds) {
		t.Errorf("%d deliveries without a webhook", n-len(ds))
	}
}

func TestCallsAndHooks(t *testing.T) {
	s := newSim(t, nil)
	var seen []string
	s.AfterRequest(func(c ghsim.Call) {
		if c.Pattern == "/repos/{owner}/{repo}" {
			_, err := s.Repo(repoName) // a hook may call the server
			seen = append(seen, c.Method)
			must(t, err)
		}
	})
	_, _, err := s.bot().Repositories.Get(ctx, "acme", "shop")
	must(t, err)
	if len(seen) != 1 || s.CountCalls() != 2 {
		t.Errorf("seen %v, %d calls", seen, s.CountCalls())
	}
	e, err := s.WaitEntry(ctx, 0, func(e ghsim.Entry) bool { return e.Kind == "installation.created" })
	must(t, err)
	if e.Ref != "sia" {
		t.Errorf("entry %+v", e)
	}
}

func TestUnknownRoutes(t *testing.T) {
	s := newSim(t, nil, func(c *ghsim.Config) { c.Wrap = nil })
	for path, want := range map[string]int{"/api/v3/nothing": 404, "/api/v3/repos/acme/shop/issues/1": 405} {
		if resp, body := s.do("DELETE", path, "", ""); resp.StatusCode != want ||
			!strings.Contains(body, "documentation_url") {
			t.Errorf("%s: %d %s, want %d", path, resp.StatusCode, body, want)
		}
	}
}

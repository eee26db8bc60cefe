package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sia-bot/sia/sia"
)

func TestAnswersAreRevalidatedNeverTrusted(t *testing.T) {
	w := start(t, "/")
	title := atomic.Value{}
	title.Store("one")
	w.HandleFunc("GET /repos/acme/shop/issues/12", func(rw http.ResponseWriter, req *http.Request) {
		tag := fmt.Sprintf("%q", title.Load())
		rw.Header().Set("ETag", tag)
		rw.Header().Set("Cache-Control", "private, max-age=60, s-maxage=60") // what GitHub sends
		rw.Header().Set("Vary", "Accept, Authorization, Cookie")
		if req.Header.Get("If-None-Match") == tag {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		answer(rw, 200, fmt.Sprintf(`{"number":12,"title":%q}`, title.Load()))
	})
	read := func(installation int64) string {
		got, err := w.app.Repo(installation, shop).Issue(context.Background(), 12)
		if err != nil {
			t.Fatal(err)
		}
		return got.Title
	}
	got := []string{read(1), read(1), read(2)}
	title.Store("two")
	got = append(got, read(1), read(1))
	if d := cmp.Diff([]string{"one", "one", "one", "two", "two"}, got); d != "" {
		t.Error(d)
	}
	var counts []CallCount
	for _, c := range w.app.Calls() {
		if strings.Contains(c.Route, "issues") {
			counts = append(counts, c)
		}
	}
	want := []CallCount{
		{Installation: 1, Method: "GET", Route: "/repos/{owner}/{repo}/issues/{id}", Calls: 4, NotModified: 2},
		{Installation: 2, Method: "GET", Route: "/repos/{owner}/{repo}/issues/{id}", Calls: 1},
	}
	if d := cmp.Diff(want, counts); d != "" {
		t.Error(d)
	}
}

func TestForgetDropsTokens(t *testing.T) {
	w := start(t, "/")
	w.json("GET /repos/acme/shop/issues/12", 200, issue12)
	for range 2 {
		if _, err := w.repo().Issue(context.Background(), 12); err != nil {
			t.Fatal(err)
		}
		w.app.Forget(1)
	}
	if n := len(w.minted()); n != 2 {
		t.Errorf("%d tokens", n)
	}
}

// The cache never holds more than its bound and never gives an answer that was
// not the last one set.
func TestCacheHoldsItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newLRU(4000)
		last := map[string]string{}
		for i := range rapid.IntRange(1, 200).Draw(t, "steps") {
			key := fmt.Sprint("k", rapid.IntRange(0, 20).Draw(t, "key"))
			switch rapid.IntRange(0, 2).Draw(t, "do") {
			case 0:
				v := "HTTP/1.1 200 OK\r\nEtag: x\r\n\r\n" + strings.Repeat(fmt.Sprint(i%10), rapid.IntRange(0, 1500).Draw(t, "size"))
				c.Set(key, []byte(v))
				last[key] = v
			case 1:
				if got, ok := c.Get(key); ok && string(got) != last[key] {
					t.Fatalf("%s holds an old answer", key)
				}
			case 2:
				c.Delete(key)
				delete(last, key)
			}
			held := 0
			for _, e := range c.byKey {
				held += e.Value.(*entry).size()
			}
			if held != c.bytes || held > c.max || c.order.Len() != len(c.byKey) {
				t.Fatalf("holds %d, says %d, of %d", held, c.bytes, c.max)
			}
		}
	})
}

func TestOnlyGoodAnswersAreKept(t *testing.T) {
	for wire, want := range map[string]bool{
		"HTTP/2.0 200 OK\r\nEtag: \"x\"\r\n\r\n{}":             true,
		"HTTP/1.1 200 OK\r\nContent-Type: x\r\n\r\netag: \"":   false,
		"HTTP/1.1 404 Not Found\r\nEtag: \"x\"\r\n\r\n{}":      false,
		"HTTP/1.1 302 Found\r\nEtag: x\r\nLocation: y\r\n\r\n": false,
		"": false,
	} {
		if got := revalidable([]byte(wire)); got != want {
			t.Errorf("%q: %v", wire, got)
		}
	}
}

func TestRoutesNameKindsNotThings(t *testing.T) {
	for path, want := range map[string]string{
		"/repos/acme/shop/issues/12/comments":            "/repos/{owner}/{repo}/issues/{id}/comments",
		"/repos/acme/shop/commits/0123abc/check-runs":    "/repos/{owner}/{repo}/commits/{sha}/check-runs",
		"/repos/acme/shop/branches/sia%2Fx/protection":   "/repos/{owner}/{repo}/branches/{name}/protection",
		"/repos/acme/shop/collaborators/ann/permission":  "/repos/{owner}/{repo}/collaborators/{name}/permission",
		"/repos/acme/shop/issues/1/labels/sia%3Aworking": "/repos/{owner}/{repo}/issues/{id}/labels/{name}",
		"/app/installations/1/access_tokens":             "/app/installations/{id}/access_tokens",
		"/repos/acme/shop/rules/branches/main":           "/repos/{owner}/{repo}/rules/branches/{name}",
		"/repos/acme/shop/git/ref/heads/sia/issue-1-x":   "/repos/{owner}/{repo}/git/ref/heads/{name}",
		"/users/sia%5Bbot%5D":                            "/users/{name}",
		"":                                               "/",
	} {
		if got := routeOf(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func TestMetricsTellNoSecret(t *testing.T) {
	w := start(t, "/")
	w.json("GET /repos/acme/shop/issues/12", 500, "x")
	_, err := w.repo().Issue(context.Background(), 12)
	all := fmt.Sprint(w.app.Calls(), err, w.logs)
	if strings.Contains(all, "secretsecret") || strings.Contains(all, "eyJ") {
		t.Errorf("a token got out: %s", all)
	}
	if sia.IsPermanent(err) {
		t.Errorf("got %v", err)
	}
}

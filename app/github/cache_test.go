package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"

	"github.com/sia-bot/sia/sia"
)

func TestAnswersAreRevalidatedNeverTrusted(t *testing.T) {
	w := start(t, "/")
	title, unchanged := atomic.Value{}, 0
	title.Store("one")
	w.HandleFunc("GET /repositories/42/issues/12", func(rw http.ResponseWriter, req *http.Request) {
		tag := fmt.Sprintf("%q", title.Load())
		rw.Header().Set("ETag", tag)
		rw.Header().Set("Cache-Control", "private, max-age=60, s-maxage=60") // as GitHub sends it
		rw.Header().Set("Vary", "Accept, Authorization, Cookie")
		if req.Header.Get("If-None-Match") == tag {
			unchanged++
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		answer(rw, 200, fmt.Sprintf(`{"number":12,"state":"open","labels":[],"title":%q}`, title.Load()))
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
	if asked := len(w.got("GET /repositories/42/issues/12")); asked != 5 || unchanged != 2 {
		t.Errorf("asked %d times, of which %d had not changed, want 5 and 2", asked, unchanged)
	}
}

// A full last page is not cached: its entity tag stays the same when another page follows, and a 304 has no link to
// it.
func TestAFullLastPageIsReadAnew(t *testing.T) {
	w := start(t, "/")
	var all []any
	add := func(n int) {
		for range n {
			all = append(all, map[string]any{"id": len(all) + 1, "body": "b", "created_at": "2020-01-02T03:04:05Z",
				"updated_at": "2020-01-02T03:04:05Z", "user": map[string]any{"login": "ann", "id": 5}})
		}
	}
	w.HandleFunc("GET /repos/acme/shop/issues/12/comments", func(rw http.ResponseWriter, req *http.Request) {
		rw.Header().Set("ETag", fmt.Sprintf("%q", req.URL.Query().Get("page")))
		if req.Header.Get("If-None-Match") != "" {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		servePages(rw, req, all, "")
	})
	add(perPage)
	for _, want := range []int{perPage, perPage + 1} {
		if got := must[[]Comment](t)(w.repo().CommentsSince(t.Context(), 12, time.Time{})); len(got) != want {
			t.Errorf("%d comments, want %d", len(got), want)
		}
		add(1)
	}
}

func TestForgetDropsTokens(t *testing.T) {
	w := start(t, "/")
	w.json("GET /repositories/42/issues/12", 200, issue12)
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

// The cache never exceeds its limit, and always returns the latest value.
func TestCacheHoldsItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newResponseCache(4000)
		last := map[string]string{}
		for i := range rapid.IntRange(1, 200).Draw(t, "steps") {
			key := fmt.Sprint("k", rapid.IntRange(0, 20).Draw(t, "key"))
			switch rapid.IntRange(0, 2).Draw(t, "do") {
			case 0:
				v := "HTTP/1.1 200 OK\r\nEtag: x\r\n\r\n" +
					strings.Repeat(fmt.Sprint(i%10), rapid.IntRange(0, 1500).Draw(t, "size"))
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
				held += e.Value.(*cacheEntry).size()
			}
			if held != c.bytes || held > c.max || c.order.Len() != len(c.byKey) {
				t.Fatalf("holds %d, says %d, of %d", held, c.bytes, c.max)
			}
		}
	})
}

func TestOnlyGoodAnswersAreKept(t *testing.T) {
	for wire, want := range map[string]bool{
		"HTTP/2.0 200 OK\r\nEtag: \"x\"\r\n\r\n{\"id\":1}":     true,
		"HTTP/1.1 200 OK\r\nContent-Type: x\r\n\r\netag: \"":   false,
		"HTTP/1.1 404 Not Found\r\nEtag: \"x\"\r\n\r\n{}":      false,
		"HTTP/1.1 302 Found\r\nEtag: x\r\nLocation: y\r\n\r\n": false,
		"": false,
	} {
		if got := isCacheable([]byte(wire)); got != want {
			t.Errorf("%q: %v", wire, got)
		}
	}
}

func TestErrorsAndLogsTellNoSecret(t *testing.T) {
	w := start(t, "/")
	w.HandleFunc("GET /repositories/42/issues/12", func(rw http.ResponseWriter, req *http.Request) {
		answer(rw, 500, `{"message":"not with `+req.Header.Get("Authorization")+`"}`) // as a proxy may do
	})
	_, err := w.repo().Issue(context.Background(), 12)
	all := fmt.Sprint(err, w.logs)
	if strings.Contains(all, "secretsecret") || strings.Contains(all, "eyJ") || !strings.Contains(all, "not with") {
		t.Errorf("a token got out: %s", all)
	}
	if sia.IsPermanent(err) {
		t.Errorf("got %v", err)
	}
}

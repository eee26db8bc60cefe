package github

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
)

const mark = "<!-- sia:v1 task=42-12 kind=status key=a -->"

// thread holds the comments on issue 12, as GitHub stores them.
type thread struct {
	mu    sync.Mutex
	next  int64
	items []map[string]any
}

func (th *thread) add(author, body string) int64 {
	th.mu.Lock()
	defer th.mu.Unlock()
	th.next++
	th.items = append(th.items, map[string]any{
		"id": th.next, "body": body, "user": map[string]any{"login": author, "id": 5},
		"html_url": fmt.Sprintf("http://x/12#c%d", th.next), "created_at": "2026-01-02T03:04:05Z",
		"updated_at": "2026-01-02T03:04:05Z",
	})
	return th.next
}

func (th *thread) find(req *http.Request) int {
	id, _ := strconv.ParseInt(req.PathValue("id"), 10, 64)
	return slices.IndexFunc(th.items, func(m map[string]any) bool { return m["id"] == id })
}

func (th *thread) remove(id int64) {
	th.mu.Lock()
	defer th.mu.Unlock()
	th.items = slices.DeleteFunc(th.items, func(m map[string]any) bool { return m["id"] == id })
}

func (th *thread) bodies() (out []string) {
	th.mu.Lock()
	defer th.mu.Unlock()
	for _, m := range th.items {
		out = append(out, m["user"].(map[string]any)["login"].(string)+": "+m["body"].(string))
	}
	return out
}

func mountThread(w *wire) *thread {
	th := &thread{}
	const at = "/repos/acme/shop/issues/"
	w.HandleFunc("GET "+at+"12/comments", func(rw http.ResponseWriter, req *http.Request) {
		th.mu.Lock()
		defer th.mu.Unlock()
		var all []any
		for _, m := range th.items {
			all = append(all, m)
		}
		servePages(rw, req, all, "")
	})
	w.HandleFunc("POST "+at+"12/comments", func(rw http.ResponseWriter, req *http.Request) {
		th.add("sia[bot]", w.bodyOf(req))
		th.mu.Lock()
		defer th.mu.Unlock()
		answerJSON(rw, 201, th.items[len(th.items)-1])
	})
	one := func(change func(i int, req *http.Request)) http.HandlerFunc {
		return func(rw http.ResponseWriter, req *http.Request) {
			th.mu.Lock()
			defer th.mu.Unlock()
			i := th.find(req)
			if i < 0 {
				answer(rw, 404, `{"message":"Not Found"}`)
				return
			}
			change(i, req)
			answerJSON(rw, 200, th.items[i])
		}
	}
	w.HandleFunc("GET "+at+"comments/{id}", one(func(int, *http.Request) {}))
	w.HandleFunc("PATCH "+at+"comments/{id}", one(func(i int, req *http.Request) { th.items[i]["body"] = w.bodyOf(req) }))
	return th
}

func TestUpsertComment(t *testing.T) {
	w := start(t, "/")
	th := mountThread(w)
	th.add("mallory", mark+"\nforged")
	th.add("sia[bot]", "quoting:\n"+mark+"\nnot at the beginning")
	for i := range 150 {
		th.add("ann", fmt.Sprint("chat ", i))
	}
	ctx, r := context.Background(), w.repo()
	upsert := func(body string, known int64) (Comment, bool) {
		t.Helper()
		writes := func() int { return len(w.got("POST /repos")) + len(w.got("PATCH /repos")) }
		before := writes()
		c, err := r.UpsertComment(ctx, 12, mark, body, known)
		if err != nil {
			t.Fatal(err)
		}
		return c, writes() > before
	}
	first, changed := upsert("one", 0)
	if !changed || first.ID != 153 || first.Body != mark+"\none" || first.URL != "http://x/12#c153" {
		t.Errorf("created %+v, %v", first, changed)
	}
	if c, changed := upsert("one", 0); changed || c.ID != first.ID {
		t.Errorf("again: %+v, %v", c, changed)
	}
	if c, changed := upsert("two", 0); !changed || c.ID != first.ID {
		t.Errorf("edited: %+v, %v", c, changed)
	}
	lists := len(w.got("GET /repos/acme/shop/issues/12/comments"))
	if c, changed := upsert("three", first.ID); !changed || c.ID != first.ID {
		t.Errorf("edited, known: %+v, %v", c, changed)
	}
	if c, changed := upsert("three\r\n", first.ID); changed || c.ID != first.ID {
		t.Errorf("same, known: %+v, %v", c, changed)
	}
	if n := len(w.got("GET /repos/acme/shop/issues/12/comments")); n != lists {
		t.Error("looked through the comments although the id was known")
	}
	th.remove(first.ID)
	if c, changed := upsert("four", first.ID); !changed || c.ID == first.ID {
		t.Errorf("deleted: %+v, %v", c, changed)
	}
	if c, changed := upsert("four", 1); changed || c.Author != "sia[bot]" { // 1 is by mallory
		t.Errorf("known is somebody else's: %+v, %v", c, changed)
	}
	got := slices.DeleteFunc(th.bodies(), func(s string) bool { return strings.HasPrefix(s, "ann") })
	want := []string{"mallory: " + mark + "\nforged", "sia[bot]: quoting:\n" + mark + "\nnot at the beginning",
		"sia[bot]: " + mark + "\nfour"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestCommentsSince(t *testing.T) {
	w := start(t, "/")
	th := mountThread(w)
	for i := range 120 {
		th.add("ann", fmt.Sprint(i))
	}
	since := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	got := must[[]Comment](t)(w.repo().CommentsSince(context.Background(), 12, since))
	if len(got) != 120 || got[119].Body != "119" || got[6].AuthorID != 5 {
		t.Errorf("got %d", len(got))
	}
	for _, s := range w.got("GET /repos/acme/shop/issues/12/comments") {
		if !strings.Contains(s.query, "since=2026-01-01T00%3A00%3A00Z") || !strings.Contains(s.query, "per_page=100") {
			t.Errorf("query %s", s.query)
		}
	}
}

func TestMarkersMustBeMarkers(t *testing.T) {
	w := start(t, "/")
	for _, m := range []string{"", "sia", "<!-- a\nb -->", "<!-- a"} {
		if _, err := w.repo().UpsertComment(context.Background(), 12, m, "x", 0); !sia.IsPermanent(err) {
			t.Errorf("%q: %v", m, err)
		}
	}
}

func TestLongBodiesFit(t *testing.T) {
	long := "intro\n```\n" + strings.Repeat("é", maxBody)
	got := truncateBody(long)
	if len(got) > maxBody || !strings.HasSuffix(got, "_\n") || strings.Count(got, "```") != 2 ||
		strings.Contains(got, "\ufffd") {
		t.Errorf("%d bytes, ends %q", len(got), got[len(got)-80:])
	}
	if truncateBody("short") != "short" {
		t.Error("changed a short one")
	}
}

func TestReactions(t *testing.T) {
	w := start(t, "/")
	w.json("POST /repos/acme/shop/issues/comments/5/reactions", 200, `{"id":1}`)
	w.json("GET /repos/acme/shop/issues/comments/5/reactions", 200,
		`[{"id":1,"content":"+1","user":{"login":"ann","id":5}}]`)
	if err := w.repo().React(context.Background(), sia.Origin{OnIssue: 12, Comment: 5}, "rocket"); err != nil {
		t.Fatal(err)
	}
	w.json("POST /repos/acme/shop/issues/comments/6/reactions", 404, `{"message":"Not Found"}`)
	w.json("POST /repos/acme/shop/pulls/comments/6/reactions", 410, `{"message":"This comment was deleted"}`)
	for _, on := range []sia.Origin{{OnIssue: 12, Comment: 6}, {OnIssue: 12, Thread: 6}} {
		if err := w.repo().React(context.Background(), on, "rocket"); err != nil {
			t.Errorf("to a comment that was deleted: %v", err)
		}
	}
	w.json("POST /repos/acme/shop/issues/13/reactions", 404, `{"message":"Not Found"}`)
	if err := w.repo().React(context.Background(), sia.Origin{OnIssue: 13}, "rocket"); err == nil {
		t.Error("an issue that is not found is no error")
	}
	got := must[[]Reaction](t)(w.repo().Reactions(context.Background(), 5))
	if d := cmp.Diff([]Reaction{{ID: 1, Content: "+1", Author: "ann", AuthorID: 5}}, got); d != "" {
		t.Error(d)
	}
	w.json("GET /repos/acme/shop/issues/comments/6/reactions", 404, `{"message":"Not Found"}`)
	if got := must[[]Reaction](t)(w.repo().Reactions(context.Background(), 6)); got != nil {
		t.Errorf("to a comment that was deleted: %+v", got)
	}
}

// bodyOf returns the body field of a request.
func (w *wire) bodyOf(req *http.Request) string {
	b, _ := io.ReadAll(req.Body)
	return decode[struct{ Body string }](w.t, string(b)).Body
}

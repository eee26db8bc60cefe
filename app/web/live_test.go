package web_test

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
)

// line opens a page's event stream, after the last known state if any, and returns a function that reads it up to a
// word.
func line(
	ctx context.Context, t *testing.T, srv *httptest.Server, path, left string,
) (status int, until func(word string) string) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+path, nil)
	must(t, err)
	if left != "" {
		req.Header.Set("Last-Event-ID", left)
	}
	resp, err := srv.Client().Do(req)
	must(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() }) // it may have been cut
	lines := bufio.NewScanner(resp.Body)
	return resp.StatusCode, func(word string) string {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), word) {
				return lines.Text()
			}
		}
		t.Fatalf("the line ended before %q: %v", word, lines.Err())
		return ""
	}
}

func stop(t *testing.T, s *store.Store, id sia.TaskID) {
	t.Helper()
	_, err := s.Apply(t.Context(), id, sia.Event{ID: "stop", At: start.Add(time.Hour), Fact: sia.Stop{Reason: "closed"}})
	must(t, err)
}

// An open page gets events about its own task only; a reconnecting page gets an event at once if it missed a change,
// and none otherwise.
func TestChangesAreTold(t *testing.T) {
	s := world(t)
	srv := httptest.NewServer(as(admin(), pages(t, s, &doer{})))
	t.Cleanup(srv.Close)
	_, until := line(t.Context(), t, srv, "/live?task=9-4", "")
	left := strings.TrimPrefix(until("id: "), "id: ")
	until(": at work")
	stop(t, s, "10-4") // another task
	stop(t, s, "9-4")
	until("event: changed")
	id := until("id: ")
	if now := until("data: "); strings.TrimPrefix(now, "data: ") == left || strings.TrimPrefix(id,
		"id: ") != strings.TrimPrefix(now, "data: ") {
		t.Errorf("it tells of %s as %s, and was at %s", now, id, left)
	}
	_, again := line(t.Context(), t, srv, "/live?task=9-4", left)
	again("event: changed")
	_, missed := line(t.Context(), t, srv, "/live?task=9-4&since="+left, "") // from a page that was rendered before
	missed("event: changed")
	_, same := line(t.Context(), t, srv, "/live?task=9-4", strings.TrimPrefix(id, "id: "))
	if first := same(":"); strings.Contains(first, "changed") {
		t.Error("it tells of a change that was told of before")
	}
	if next := same(": at work"); strings.Contains(next, "changed") {
		t.Error(next)
	}
}

// A page without tasks gets events about its own content.
func TestChangesOfOtherThingsAreTold(t *testing.T) {
	s := world(t)
	h := pages(t, s, &doer{})
	srv := httptest.NewServer(as(both(), h))
	t.Cleanup(srv.Close)
	for path, change := range map[string]func(){
		"/installations/1": func() {
			repo := sia.Repo{ID: 11, Owner: "acme", Name: "orders"}
			must(t, s.UpsertRepository(t.Context(), store.Repository{Repo: repo, Installation: 1}))
			must(t, s.PlanSetups(t.Context(), 1, []sia.Repo{repo}, 1, false))
		},
	} {
		_, page := ask(t, h, both(), "GET "+path, "")
		_, rest, _ := strings.Cut(page, `data-live="`)
		from, _, _ := strings.Cut(rest, `"`)
		_, until := line(t.Context(), t, srv, html.UnescapeString(from), "")
		until(": at work")
		change()
		until("event: changed")
	}
}

// Viewers without access to a page get no events about it.
func TestChangesOfOthersAreNotTold(t *testing.T) {
	h := pages(t, world(t), &doer{})
	for path, who := range map[string]viewer.Viewer{"/installations/1": stranger()} {
		if code, _ := ask(t, h, who, "GET /live?page="+url.QueryEscape(path), ""); code != http.StatusNotFound {
			t.Errorf("%s: %d", path, code)
		}
	}
}

// A viewer has a limited number of streams, others' are unaffected, and a closed stream is free again.
func TestLinesAreBounded(t *testing.T) {
	s := world(t)
	h := pages(t, s, &doer{})
	mine := httptest.NewServer(as(member(), h))
	theirs := httptest.NewServer(as(stranger(), h))
	t.Cleanup(mine.Close)
	t.Cleanup(theirs.Close)
	ctx, hangUp := context.WithCancel(t.Context())
	open, refused := 0, 0
	for range 80 { // ten times the limit
		status, until := line(ctx, t, mine, "/live", "")
		if status == http.StatusOK {
			until(": at work")
			open++
		} else if status == http.StatusTooManyRequests {
			refused++
		}
	}
	if open != 8 || refused != 72 {
		t.Errorf("%d lines are open, %d were refused", open, refused)
	}
	if status, _ := line(t.Context(), t, theirs, "/live", ""); status != http.StatusOK {
		t.Errorf("somebody else gets %d", status)
	}
	hangUp()
	for { // until the server has noticed
		if status, _ := line(t.Context(), t, mine, "/live", ""); status == http.StatusOK {
			break
		}
	}
}

// All viewers together have a limited number of streams.
func TestLinesOfAllAreBounded(t *testing.T) {
	h := pages(t, world(t), &doer{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := strconv.ParseInt(r.URL.Query().Get("who"), 10, 64)
		if err != nil {
			t.Error(err)
		}
		as(viewer.Viewer{Actor: sia.Actor{ID: who}}, h).ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	ctx, hangUp := context.WithCancel(t.Context())
	t.Cleanup(hangUp) // before the server waits for them
	statuses := map[int]int{}
	for i := range 300 {
		status, _ := line(ctx, t, srv, fmt.Sprint("/live?who=", 1+i/4), "")
		statuses[status]++
	}
	if d := cmp.Diff(map[int]int{http.StatusOK: 256, http.StatusTooManyRequests: 44}, statuses); d != "" {
		t.Error(d)
	}
}

// A server's shutdown does not wait for open pages.
func TestLinesEndWithTheServer(t *testing.T) {
	ending := make(chan struct{})
	h, err := web.New(web.Deps{From: world(t), Do: &doer{}, Lessons: &doer{}, Settings: defaults{}, Advise: defaults{},
		Models: defaults{}, Diffs: change{}, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
		Ending: ending})
	must(t, err)
	srv := httptest.NewServer(as(member(), h))
	t.Cleanup(srv.Close)
	_, until := line(t.Context(), t, srv, "/live", "")
	until(": at work")
	close(ending)
	must(t, srv.Config.Shutdown(t.Context())) // it waits for every request to end
}

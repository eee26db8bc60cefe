package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sia-bot/sia/sia"
)

func TestJobLog(t *testing.T) {
	w := start(t, "/")
	var complete strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&complete, "line %d\n", i+1)
	}
	signedIn := ""
	storage := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		signedIn += req.Header.Get("Authorization")
		switch {
		case req.URL.Query().Get("sig") != "TopSecret":
			rw.WriteHeader(http.StatusForbidden)
		case req.URL.Path == "/chunked":
			rw.(http.Flusher).Flush() // without Content-Length
			fallthrough
		default:
			rw.Header().Set("Content-Length", fmt.Sprint(complete.Len()))
			_, _ = io.WriteString(rw, complete.String())
		}
	}))
	defer storage.Close()
	for job, to := range map[int]string{1: "/known?sig=TopSecret", 2: "/chunked?sig=TopSecret", 3: "/known?sig=expired"} {
		w.HandleFunc(fmt.Sprintf("GET /repos/acme/shop/actions/jobs/%d/logs", job),
			func(rw http.ResponseWriter, req *http.Request) {
				http.Redirect(rw, req, storage.URL+to, http.StatusFound)
			})
	}
	w.json("GET /repos/acme/shop/actions/jobs/4/logs", 410, `{"message":"Gone"}`)
	w.json("GET /repos/acme/shop/actions/jobs/5/logs", 403, `{"message":"Resource not accessible by integration"}`)
	w.json("GET /repos/acme/shop/actions/jobs/6/logs", 202, `{}`)
	ctx := context.Background()
	if _, err := w.repo().JobLog(ctx, CheckRun{JobID: 6}, 0); sia.RetryAfter(err) != logRetryAfter {
		t.Errorf("being prepared: %v", err)
	}
	for _, job := range []int64{1, 2} {
		for _, limit := range []int64{0, 1000, 1 << 30} {
			log, err := w.repo().JobLog(ctx, CheckRun{Name: "test", JobID: job}, limit)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(log)
			if err != nil || log.Close() != nil {
				t.Fatal(err)
			}
			first := fmt.Sprintf("line %d\n", log.Skipped+1)
			if !strings.HasPrefix(string(b), first) || !strings.HasSuffix(complete.String(), string(b)) ||
				(limit == 1000) != (log.Skipped > 0) {
				t.Errorf("job %d, limit %d: skipped %d, %d bytes, begins %.20q", job, limit, log.Skipped, len(b), b)
			}
		}
	}
	for name, run := range map[string]CheckRun{"expired address": {JobID: 3}, "expired": {JobID: 4},
		"not an Actions job": {ID: 9}} {
		if _, err := w.repo().JobLog(ctx, run, 0); !errors.Is(err, ErrNoLog) || !sia.IsPermanent(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.repo().JobLog(ctx, CheckRun{JobID: 5}, 0); errors.Is(err, ErrNoLog) ||
		!strings.Contains(err.Error(), `"actions: read"`) {
		t.Errorf("got %v", err)
	}
	storage.Close()
	_, err := w.repo().JobLog(ctx, CheckRun{JobID: 1}, 0)
	if err == nil || sia.IsPermanent(err) || strings.Contains(err.Error(), "TopSecret") {
		t.Errorf("storage down: %v", err)
	}
	if signedIn != "" {
		t.Errorf("the token went to storage: %s", signedIn)
	}
}

// Both ways of reading the end of a log return the same whole lines, and the number of skipped ones.
func TestTails(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOf(rapid.StringMatching(`[a-c]{0,40}`)).Draw(t, "lines"), "\n")
		limit := rapid.Int64Range(1, 200).Draw(t, "limit")
		streamed, err := streamTail(readCloser(s), int64(len(s)), limit)
		if err != nil {
			t.Fatal(err)
		}
		buffered, err := bufferTail(readCloser(s), limit)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := io.ReadAll(streamed)
		b, _ := io.ReadAll(buffered)
		if string(a) != string(b) || streamed.Skipped != buffered.Skipped {
			t.Fatalf("streamed %d %q, buffered %d %q", streamed.Skipped, a, buffered.Skipped, b)
		}
		if int64(len(a)) > limit {
			t.Fatalf("%d bytes for a limit of %d", len(a), limit)
		}
		rest := strings.SplitAfter(s, "\n")
		if got := strings.Join(rest[min(streamed.Skipped, len(rest)):], ""); got != string(a) {
			t.Fatalf("skipped %d, but got %q instead of %q", streamed.Skipped, a, got)
		}
	})
}

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
		case req.URL.Path == "/huge":
			rw.Header().Set("Content-Length", fmt.Sprint(maxLogBytes+1))
		case req.URL.Path == "/chunked":
			rw.(http.Flusher).Flush() // without Content-Length
			fallthrough
		default:
			rw.Header().Set("Content-Length", fmt.Sprint(complete.Len()))
			_, _ = io.WriteString(rw, complete.String())
		}
	}))
	defer storage.Close()
	for job, to := range map[int]string{1: "/known?sig=TopSecret", 2: "/chunked?sig=TopSecret", 3: "/known?sig=expired",
		7: "/huge?sig=TopSecret"} {
		w.HandleFunc(fmt.Sprintf("GET /repos/acme/shop/actions/jobs/%d/logs", job),
			func(rw http.ResponseWriter, req *http.Request) {
				http.Redirect(rw, req, storage.URL+to, http.StatusFound)
			})
	}
	w.json("GET /repos/acme/shop/actions/jobs/4/logs", 410, `{"message":"Gone"}`)
	w.json("GET /repos/acme/shop/actions/jobs/5/logs", 403, `{"message":"Resource not accessible by integration"}`)
	w.json("GET /repos/acme/shop/actions/jobs/6/logs", 202, `{}`)
	ctx := context.Background()
	if _, err := w.repo().Actions.JobLog(ctx, CheckRun{JobID: 6}); sia.RetryAfter(err) != logRetryAfter {
		t.Errorf("being prepared: %v", err)
	}
	for _, job := range []int64{1, 2} {
		log, err := w.repo().Actions.JobLog(ctx, CheckRun{Name: "test", JobID: job})
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(log)
		if err != nil || log.Close() != nil {
			t.Fatal(err)
		}
		if string(b) != complete.String() {
			t.Errorf("job %d: %d bytes, begins %.20q", job, len(b), b)
		}
	}
	for name, run := range map[string]CheckRun{"expired address": {JobID: 3}, "expired": {JobID: 4},
		"too large": {JobID: 7}, "not an Actions job": {ID: 9}} {
		if _, err := w.repo().Actions.JobLog(ctx, run); !errors.Is(err, ErrNoLog) || !sia.IsPermanent(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.repo().Actions.JobLog(ctx, CheckRun{JobID: 5}); errors.Is(err, ErrNoLog) ||
		!strings.Contains(err.Error(), `"actions: read"`) {
		t.Errorf("got %v", err)
	}
	storage.Close()
	_, err := w.repo().Actions.JobLog(ctx, CheckRun{JobID: 1})
	if err == nil || sia.IsPermanent(err) || strings.Contains(err.Error(), "TopSecret") {
		t.Errorf("storage down: %v", err)
	}
	if signedIn != "" {
		t.Errorf("the token went to storage: %s", signedIn)
	}
}

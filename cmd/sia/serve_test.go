package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sim/ghsim"
)

// startServe runs `sia serve` against a simulator and a model's endpoint. It returns the private address, the webhooks'
// address, and the log.
func startServe(t *testing.T, model http.Handler, flags ...string) (pages, webhooks string, log *watched) {
	t.Helper()
	dir := t.TempDir()
	sim, err := ghsim.New(ghsim.Config{Dir: filepath.Join(dir, "github")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sim.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	app, err := sim.CreateApp("sia")
	if err != nil {
		t.Fatal(err)
	}
	endpoint := httptest.NewServer(model)
	key := filepath.Join(dir, "app.pem")
	if err := os.WriteFile(key, app.PrivateKeyPEM, 0o600); err != nil {
		t.Fatal(err)
	}
	up := make(chan struct{})
	log = &watched{until: "pages, for this machine only", then: func() {
		select {
		case <-up:
		default:
			close(up)
		}
	}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- runCommand(ctx, append([]string{"serve", "--listen", "127.0.0.1:0", "--private", "127.0.0.1:0", "--dir", dir,
			"--github-url", sim.URL(), "--app-id", fmt.Sprint(app.ID), "--app-key-file", key, "--webhook-secret", "s",
			"--model-url", endpoint.URL + "/v1", "--model", "big", "--free"}, flags...), io.Discard, log)
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != cli.ExitDone {
			t.Errorf("serve ended with %d:\n%s", code, log)
		}
		endpoint.Close()
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
	select {
	case <-up:
	case <-time.After(time.Minute):
		t.Fatalf("serve is not up after a minute:\n%s", log)
	}
	return found(t, log, `address=(\S+)`), "http://" + found(t, log, `webhooks=(\S+)`), log
}

// found returns the match of a pattern's group in a log.
func found(t *testing.T, log *watched, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(log.String())
	if m == nil {
		t.Fatalf("%s is not in\n%s", pattern, log)
	}
	return m[1]
}

func get(t *testing.T, address string) (status int, body string) {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// A rejected key of a model is reported at the start, and by /readyz, which does not ask the model again for each
// request.
func TestServeWithoutModel(t *testing.T) {
	var asked atomic.Int64
	pages, _, log := startServe(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // the list of models; there are other requests, too
			asked.Add(1)
		}
		http.Error(w, `{"error": {"message": "no such key", "code": "invalid_api_key"}}`, http.StatusUnauthorized)
	}))
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "what=\"model coder\"") {
		t.Errorf("the start says nothing of it:\n%s", log)
	}
	for range 3 {
		if status, body := get(t, pages+"/readyz"); status != http.StatusServiceUnavailable ||
			!strings.Contains(body, "model coder: call model coder: auth (HTTP 401): no such key. Check the API key") {
			t.Errorf("%d %s", status, body)
		}
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("the model was asked %d times, want once at the start and once for /readyz", n)
	}
	checkHealth(t, pages)
	if status, body := get(t, pages+"/debug/pprof/goroutine?debug=1"); status != http.StatusOK ||
		!strings.Contains(body, "goroutine profile: total") {
		t.Errorf("profiles: %d %.200s", status, body)
	}
}

// The log says which version serves on which database, and what runs when the server is ended.
func TestServeSaysWhatItIs(t *testing.T) {
	var log *watched
	t.Run("while it serves", func(t *testing.T) {
		_, _, log = startServe(t, http.NotFoundHandler())
		found(t, log, `(msg=serving version=\S+ role=all database=SQLite)`)
	})
	found(t, log, `(level=INFO msg="stopping: .* why=.* within=20s attempts=0 effects=\d)`)
}

// Webhooks with a wrong signature are logged, but can't fill the log. A runner is told that there is no work for it.
func TestServeRefusesSignatures(t *testing.T) {
	pages, webhooks, log := startServe(t, http.NotFoundHandler()) // reachable, without a list of models
	checkMetrics(t, pages, webhooks)
	if status, body := get(t, pages+"/readyz"); status != http.StatusOK || body != "ready\n" {
		t.Errorf("%d %s", status, body)
	}
	for range 20 {
		resp, err := http.Post(webhooks, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s", resp.Status)
		}
	}
	status, body := get(t, strings.TrimSuffix(webhooks, "/webhook")+"/runner/next")
	if status != http.StatusNotFound || !strings.Contains(body, "this server makes attempts itself") {
		t.Errorf("a runner is told %d %s", status, body)
	}
	if n := strings.Count(log.String(), "their signature is wrong"); n != 1 {
		t.Errorf("told %d times, want once:\n%s", n, log)
	}
	if strings.Contains(log.String(), "not working yet") {
		t.Errorf("a warning without a reason:\n%s", log)
	}
}

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sia-bot/sia/cmd/internal/cli"
)

// checkHealth runs sia health against a server, for liveness and readiness.
func checkHealth(t *testing.T, pages string) {
	t.Helper()
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1") // not asked: the server is meant
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{pages}, cli.ExitDone, "ok, role all\n"},
		{[]string{pages + "/"}, cli.ExitDone, "ok, role all\n"},
		{[]string{"--ready", pages}, cli.ExitFailed, "model coder: call model coder: auth (HTTP 401)"},
		{[]string{"--ready", pages, "--output", "json"}, cli.ExitFailed, `"status": 503`},
	} {
		var out strings.Builder
		if code := runCommand(t.Context(), append([]string{"health"}, c.args...), &out, io.Discard); code != c.code ||
			!strings.Contains(out.String(), c.want) {
			t.Errorf("%v: exit %d, want %d: %s", c.args, code, c.code, out.String())
		}
	}
}

// checkMetrics expects metrics for Prometheus on the private address, and on no other.
func checkMetrics(t *testing.T, pages, webhooks string) {
	t.Helper()
	status, body := get(t, pages+"/metrics")
	if status != http.StatusOK || !strings.Contains(body, "\nsia_database_up 1\n") {
		t.Errorf("%d %s", status, body)
	}
	public := strings.TrimSuffix(webhooks, "/webhook") + "/metrics"
	if status, body := get(t, public); status == http.StatusOK || strings.Contains(body, "sia_") {
		t.Errorf("%s answers %d: %s", public, status, body)
	}
}

// Without an address, the server of SIA_PRIVATE is asked, on loopback if it listens everywhere.
func TestHealthOfThisMachine(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "ok, role all")
	}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	_, port, _ := strings.Cut(address, ":")
	for _, private := range []string{address, ":" + port, "0.0.0.0:" + port, "[::]:" + port} {
		t.Setenv("SIA_PRIVATE", private)
		var out, errs strings.Builder
		got := runCommand(t.Context(), []string{"health"}, &out, &errs)
		if got != cli.ExitDone || out.String() != "ok, role all\n" {
			t.Errorf("SIA_PRIVATE=%s: exit %d: %s%s", private, got, &out, &errs)
		}
	}
}

// A server that is not SIA, or does not answer, is not healthy.
func TestHealthOfOthers(t *testing.T) {
	hang := make(chan struct{})
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away/healthz":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/hangs/healthz":
			<-hang
		case "/much/healthz":
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, strings.Repeat("much\n", 1<<20))
		}
	}))
	defer other.Close()
	defer close(hang)
	for path, code := range map[string]int{"/away": cli.ExitFailed, "/hangs": cli.ExitFailed, "/much": cli.ExitFailed} {
		var out, errs strings.Builder
		got := runCommand(t.Context(), []string{"health", other.URL + path, "--timeout", "200ms"}, &out, &errs)
		if got != code || out.Len() > 2*maxHealthBody {
			t.Errorf("%s: exit %d, %d bytes: %s", path, got, out.Len(), errs.String())
		}
	}
	for _, args := range [][]string{{"localhost:9090"}, {"ftp://x"}, {"--timeout", "0s"}} {
		if got := runCommand(t.Context(), append([]string{"health"}, args...), io.Discard, io.Discard); got != cli.ExitUsage {
			t.Errorf("%v: exit %d, want wrong usage", args, got)
		}
	}
}

package worker

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/runner"
)

func config(t *testing.T, server string) Config {
	return Config{Server: server, Token: "sia-runner-x", Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}
}

// Requests that get no response, or an unexpected one, are retried, until the runner is stopped. A runner that is
// unknown to the server stops.
func TestServersThatDoNotAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch asked.Add(1) {
		case 1:
			http.Error(w, "no", http.StatusBadGateway)
		case 2:
			_, _ = w.Write([]byte("<html>another page</html>"))
		default: // no response
			cancel()
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	if err := Run(ctx, config(t, server.URL)); err != nil || asked.Load() != 3 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
	unknown := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(runner.Header, "1")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer unknown.Close()
	if err := Run(t.Context(), config(t, unknown.URL)); !errors.Is(err, runner.ErrToken) {
		t.Errorf("an unknown token: %v", err)
	}
}

// An attempt that is no longer this runner's ends, whatever it waits for: here, for a commit that does not arrive.
func TestAttemptThatIsGone(t *testing.T) {
	var beats atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch strings.TrimPrefix(r.URL.Path, runner.Prefix) {
		case runner.NextPath:
			_ = json.NewEncoder(w).Encode(runner.Offer{Pass: "p",
				Work: runner.Work{Start: strings.Repeat("a", 40), Repository: "1/2",
					Coder: runner.Coder{Models: []runner.Model{{Model: "m", Price: llm.Price{}}}}}})
		case runner.HeartbeatPath:
			beats.Add(1)
			w.WriteHeader(http.StatusGone)
		case runner.BasePath:
			<-r.Context().Done()
		default:
			t.Errorf("asked for %s", r.URL.Path)
		}
	}))
	defer server.Close()
	c := config(t, server.URL)
	c.Once, c.Heartbeat = true, 1
	if err := Run(t.Context(), c); err != nil || beats.Load() != 1 {
		t.Errorf("%d beats: %v", beats.Load(), err)
	}
}

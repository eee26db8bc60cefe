package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent"
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

// With a full disk, or without the server, a runner gives an attempt back without counting as lost.
func TestRunnerDiskFull(t *testing.T) {
	for err, lost := range map[error]bool{
		&fs.PathError{Op: "write", Path: "pack", Err: syscall.ENOSPC}: false, errors.New("broken"): true,
		fmt.Errorf("fetch: %w", runner.ErrUnavailable): false,
	} {
		var released atomic.Pointer[url.Values]
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			released.Store(&query)
		}))
		w, failed := newWorker(config(t, server.URL))
		if failed != nil {
			t.Fatal(failed)
		}
		if got := w.finish(t.Context(), w.newAttempt(&runner.Offer{Pass: "p"}), err); !errors.Is(got, err) {
			t.Errorf("%v: %v", err, got)
		}
		if got := released.Load(); got == nil || got.Has("lost") != lost {
			t.Errorf("%v: released with %v", err, got)
		}
		server.Close()
	}
}

// The log distinguishes a model that can't be asked from a server that can't be reached.
func TestModelWithoutServer(t *testing.T) {
	status, ours := http.StatusOK, true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if ours {
			w.Header().Set(runner.Header, "1")
		}
		w.WriteHeader(status)
	}))
	models := &modelTransport{next: http.DefaultTransport}
	ask := func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := models.RoundTrip(req)
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	}
	for _, c := range []struct {
		status int
		ours   bool
		away   bool
	}{{200, true, false}, {502, true, false}, {502, false, true}, {500, false, false}, {200, false, false}} {
		status, ours = c.status, c.ours
		if err := ask(t.Context()); err != nil || models.away.Load() != c.away {
			t.Errorf("%+v: away %v, %v", c, models.away.Load(), err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ask(ended); err == nil || models.away.Load() {
		t.Errorf("a request that was canceled: away %v, %v", models.away.Load(), err)
	}
	server.Close()
	if err := ask(t.Context()); err == nil || !strings.Contains(err.Error(), "SIA's server") || !models.away.Load() {
		t.Errorf("a server that is down: away %v, %v", models.away.Load(), err)
	}
}

// A turn that can't be reported for a time is no failure of the attempt, which another runner may continue. A turn that
// the server refuses is.
func TestTurnThatIsNotReported(t *testing.T) {
	for status, unreported := range map[int]bool{
		http.StatusServiceUnavailable: true, http.StatusUnprocessableEntity: false, http.StatusOK: false,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(runner.Header, "1")
			w.WriteHeader(status)
		}))
		w, err := newWorker(config(t, server.URL))
		if err != nil {
			t.Fatal(err)
		}
		w.patience = time.Second
		a := w.newAttempt(&runner.Offer{Pass: "p"})
		err = a.Turn(t.Context(), agent.Turn{Number: 1})
		if (err == nil) != (status == http.StatusOK) || (a.unreported != nil) != unreported {
			t.Errorf("%d: %v, kept as %v", status, err, a.unreported)
		}
		server.Close()
	}
}

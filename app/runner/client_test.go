package runner_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sia-bot/sia/app/runner"
)

// A runner uses plain HTTP to its own machine only, unless --plain-http allows more.
func TestPlainHTTP(t *testing.T) {
	for server, fits := range map[string]bool{"https://sia.example.com": true, "http://127.0.0.1:8080/": true,
		"http://localhost": true, "http://[::1]:1": true, "http://sia.example.com": false, "http://10.0.0.1": false,
		"sia.example.com": false, "ftp://sia.example.com": false, "https://user@sia.example.com": false} {
		if _, err := runner.NewClient(server, false); (err == nil) != fits {
			t.Errorf("%s: %v", server, err)
		}
	}
	if _, err := runner.NewClient("http://sia.example.com", true); err != nil {
		t.Error(err)
	}
}

// A client reports that the server is not SIA.
func TestAnotherServer(t *testing.T) {
	logged, err := takeOnce(t, http.RedirectHandler("/sign-in", http.StatusTemporaryRedirect),
		runner.TakesAttempts)
	if err == nil || !strings.Contains(logged, "is --server the address of SIA itself?") {
		t.Errorf("%v, %s", err, logged)
	}
}

// A client reports that a proxy in front of SIA takes too little. What SIA itself refuses as too large is another
// thing.
func TestProxyTakesTooLittle(t *testing.T) {
	for _, sia := range []bool{false, true} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if sia {
				w.Header().Set(runner.Header, "1")
			}
			http.Error(w, "<html>", http.StatusRequestEntityTooLarge)
		}))
		client, err := runner.NewClient(server.URL, false)
		must(t, err)
		_, err = client.Heartbeat(t.Context(), "pass")
		if err == nil || strings.Contains(err.Error(), "client_max_body_size") == sia {
			t.Errorf("from SIA %v: %v", sia, err)
		}
		server.Close()
	}
}

// takeOnce asks a server for an attempt until the client logs something, and returns that.
func takeOnce(t *testing.T, h http.Handler, takes runner.Takes) (logged string, err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server := httptest.NewServer(h)
	defer server.Close()
	client, err := runner.NewClient(server.URL, false)
	must(t, err)
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(writerFunc(func(b []byte) (int, error) {
		defer cancel()
		return out.Write(b)
	}), nil))
	_, err = client.Take(ctx, "t", func() string { return "v1" }, takes, log)
	return out.String(), err
}

// A 401 of another server, such as a proxy that needs a password, does not end a runner: only SIA knows that its token
// was removed.
func TestUnauthorizedByAnotherServer(t *testing.T) {
	logged, err := takeOnce(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", "Basic")
		http.Error(w, "You are not signed in", http.StatusUnauthorized)
	}), runner.TakesAttempts)
	if errors.Is(err, runner.ErrToken) || !strings.Contains(logged, "is --server the address of SIA itself?") {
		t.Errorf("%v, %s", err, logged)
	}

	w := newWorld(t, "http://127.0.0.1:1")
	client, err := runner.NewClient(w.server.URL, false)
	must(t, err)
	_, err = client.Take(t.Context(), runner.NewToken(), func() string { return "v1" }, runner.TakesAttempts,
		slog.New(slog.DiscardHandler))
	if !errors.Is(err, runner.ErrToken) {
		t.Errorf("an unknown token: %v", err)
	}
}

// A server of an older version, which would answer with an attempt if it was asked for tests by a parameter, gives none
// to the slot for tests: it does not know the path. That is no fault, unlike the same answer of a proxy.
func TestTestsOfAnOlderServer(t *testing.T) {
	for header, says := range map[string]string{runner.Header: "level=INFO msg=\"the server's version is older",
		"Server": "is --server the address of SIA itself?"} {
		older := http.NewServeMux()
		older.HandleFunc("POST "+runner.Prefix+runner.NextPath, func(http.ResponseWriter, *http.Request) {
			t.Error("it was asked for an attempt")
		})
		logged, err := takeOnce(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(header, "1")
			older.ServeHTTP(w, r)
		}), runner.TakesTests)
		if !errors.Is(err, context.Canceled) || !strings.Contains(logged, says) {
			t.Errorf("%s: %v, %s", header, err, logged)
		}
	}
}

// A client tells only once that its server is of an older version.
func TestOlderServerIsToldOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(runner.Header, "1")
		http.NotFound(w, r)
	}))
	defer server.Close()
	client, err := runner.NewClient(server.URL, false)
	must(t, err)
	told := 0
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		log := slog.New(slog.NewTextHandler(writerFunc(func(b []byte) (int, error) {
			told++
			cancel()
			return len(b), nil
		}), nil))
		_, err := client.Take(ctx, "t", func() string { return "v1" }, runner.TakesTests, log)
		if cancel(); err == nil {
			t.Error("it took something")
		}
	}
	if told != 1 {
		t.Errorf("it was told %d times", told)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// A runner with capacity for several attempts sends one poll at a time: a server limits polls.
func TestOneRequestForAllSlots(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var asked, now atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer now.Add(-1)
		if n := now.Add(1); n > 1 {
			t.Errorf("%d requests at a time", n)
		}
		if asked.Add(1) == 400 {
			cancel()
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	client, err := runner.NewClient(server.URL, false)
	must(t, err)
	var slots sync.WaitGroup
	for range 40 {
		slots.Go(func() {
			for ctx.Err() == nil {
				o, err := client.Take(ctx, "t", func() string { return "v1" }, runner.TakesBoth,
					slog.New(slog.DiscardHandler))
				if err == nil {
					t.Errorf("it was given %+v", o)
				}
			}
		})
	}
	slots.Wait()
}

// A commit that does not come whole is fetched again. An error of the one who takes it is final.
func TestBaseIsFetchedAgain(t *testing.T) {
	var asked atomic.Int32
	last := int32(3)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := asked.Add(1)
		switch {
		case n%last == 1:
			w.WriteHeader(http.StatusBadGateway)
		case n%last != 0:
			w.Header().Set("Content-Length", "100") // more than is sent
			fallthrough
		default:
			_, _ = w.Write([]byte("pack"))
		}
	}))
	defer server.Close()
	client, err := runner.NewClient(server.URL, false)
	must(t, err)
	var got []byte
	refused := errors.New("refused")
	for _, says := range []error{nil, refused} {
		asked.Store(0)
		err := client.Base(t.Context(), time.Minute, "p", false, func(pack io.Reader) error {
			b, err := io.ReadAll(pack)
			got = b
			return cmp.Or(err, says)
		})
		if !errors.Is(err, says) || string(got) != "pack" || asked.Load() != last {
			t.Errorf("got %q after %d requests: %v, want %v", got, asked.Load(), err, says)
		}
	}
	asked.Store(0)
	err = client.Base(t.Context(), time.Nanosecond, "p", false, func(io.Reader) error { return nil })
	if !errors.Is(err, runner.ErrUnavailable) || asked.Load() != 1 {
		t.Errorf("without patience: %v after %d requests", err, asked.Load())
	}
}

// A transfer may take longer than the client waits for a server that sends nothing. It is tried again as long as bytes
// come. A server that sends none is unavailable.
func TestBaseComesSlowly(t *testing.T) {
	type answer struct {
		status string
		size   int           // that is promised; four bytes come
		pause  time.Duration // before each half
	}
	for name, c := range map[string]struct {
		answers     []answer
		took        time.Duration
		failed      bool
		unavailable bool
	}{
		"slow":       {[]answer{{"200 OK", 4, 5 * time.Minute}}, 10 * time.Minute, false, false},
		"too slow":   {[]answer{{"200 OK", 4, 8 * time.Minute}}, runner.FetchTimeout, true, false},
		"silent":     {[]answer{{"200 OK", 4, time.Hour}}, runner.FetchTimeout, true, true},
		"breaks off": {[]answer{{"200 OK", 9, 40 * time.Second}, {"200 OK", 4, 0}}, 80250 * time.Millisecond, false, false},
		"fails late": {[]answer{{"502 Bad Gateway", 4, 30 * time.Second}}, time.Minute, true, true},
		"fails, then breaks off": {[]answer{{"502 Bad Gateway", 4, 20 * time.Second}, {"200 OK", 9, 20 * time.Second},
			{"200 OK", 4, 0}}, 80750 * time.Millisecond, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, err := runner.NewClient("http://localhost", false)
				must(t, err)
				var servers sync.WaitGroup
				defer servers.Wait()
				asked := 0
				client.Transport().(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
					a := c.answers[asked]
					asked++
					near, far := net.Pipe()
					servers.Go(func() {
						defer far.Close()
						_, _ = http.ReadRequest(bufio.NewReader(far))
						time.Sleep(a.pause)
						fmt.Fprintf(far, "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\npa", a.status, a.size)
						time.Sleep(a.pause)
						_, _ = io.WriteString(far, "ck")
					})
					return near, nil
				}
				ctx, cancel := context.WithTimeout(t.Context(), runner.FetchTimeout)
				defer cancel()
				began, got := time.Now(), ""
				err = client.Base(ctx, time.Minute, "p", false, func(pack io.Reader) error {
					b, err := io.ReadAll(pack)
					got = string(b)
					return err
				})
				if (err != nil) != c.failed || errors.Is(err, runner.ErrUnavailable) != c.unavailable ||
					!c.failed && got != "pack" {
					t.Errorf("got %q, %v", got, err)
				}
				if took := time.Since(began); took != c.took || asked != len(c.answers) {
					t.Errorf("it took %s and %d requests", took, asked)
				}
			})
		})
	}
}

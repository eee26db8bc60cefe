package notify_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/notify"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// only returns the only channel of a configuration.
func only(t *testing.T, c notify.Config) notify.Channel {
	t.Helper()
	channels, err := c.Channels(slog.New(slog.DiscardHandler), func() time.Time { return tuesday })
	if err != nil || len(channels) != 1 {
		t.Fatal(channels, err)
	}
	return channels[0]
}

var hello = render.Notice{Title: "Hello", Text: "It is Tuesday.\n"}

// Errors of a webhook include advice, and never the address, which is a secret.
func TestWebhookCanNotBeReached(t *testing.T) {
	t.Parallel()
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	defer untrusted.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for fix, address := range map[string]string{"SSL_CERT_FILE": untrusted.URL, "it can't be reached": gone.URL} {
		channel := only(t, notify.Config{URL: address + path, Roots: x509.NewCertPool()})
		for _, err := range []error{channel.Send(t.Context(), "k", hello), channel.Reach(t.Context())} {
			if err == nil || !strings.Contains(err.Error(), fix) || strings.Contains(err.Error(), path) || sia.IsPermanent(err) {
				t.Errorf("%s: %v", address, err)
			}
		}
	}
}

// A webhook over TLS receives messages, and Reach accepts any response.
func TestWebhookOverTLS(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]int{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.Method]++
		mu.Unlock()
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	}))
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	channel := only(t, notify.Config{URL: server.URL + path, Roots: roots})
	if err := errors.Join(channel.Reach(t.Context()), channel.Send(t.Context(), "k", hello)); err != nil {
		t.Error(err)
	}
	server.Close() // waits for its handlers
	if asked[http.MethodPost] != 1 {
		t.Errorf("asked %v", asked)
	}
}

// A webhook that accepts a message and never answers is waited for until the context ends, and an endless response is
// not read to the end.
func TestWebhookHangs(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client has disconnected
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	err := only(t, notify.Config{URL: server.URL + path}).Send(ctx, "k", hello)
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte(strings.Repeat("no ", 1000))); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	err = only(t, notify.Config{URL: endless.URL + path}).Send(t.Context(), "k", hello)
	if !sia.IsPermanent(err) || len(err.Error()) > 1000 {
		t.Error(err)
	}
}

// Invalid configurations are rejected with advice, and without repeating a secret.
func TestConfig(t *testing.T) {
	t.Parallel()
	smtp := notify.Config{SMTP: "smtps://sia@mail.example.com", Password: "hunter2 hunter2", From: "sia@example.com",
		To: []string{"anna@example.com"}}
	with := func(f func(*notify.Config)) notify.Config {
		c := smtp
		f(&c)
		return c
	}
	for _, c := range []struct {
		config notify.Config
		want   string // part of the error; "" for none
	}{
		{notify.Config{}, ""}, {notify.Config{Summary: notify.Off}, ""}, {smtp, ""},
		{notify.Config{URL: "https://chat.example.com" + path, Summary: notify.Weekly}, ""},
		{notify.Config{URL: "chat.example.com" + path}, "SIA_NOTIFY_URL"},
		{notify.Config{URL: "file://" + path}, "SIA_NOTIFY_URL"},
		{notify.Config{Summary: notify.Daily}, "nowhere to go"},
		{notify.Config{URL: "https://chat.example.com", Summary: "hourly"}, "give daily, weekly or off"},
		{notify.Config{To: []string{"anna@example.com"}}, "set --notify-smtp"},
		{with(func(c *notify.Config) { c.SMTP = "mail.example.com:465" }), "give smtps://user@host:465"},
		{with(func(c *notify.Config) { c.SMTP = "smtps://sia:hunter2@mail.example.com" }), "set SIA_NOTIFY_SMTP_PASSWORD"},
		{with(func(c *notify.Config) { c.Password = "" }), "set SIA_NOTIFY_SMTP_PASSWORD"},
		{with(func(c *notify.Config) { c.From = "" }), "set --notify-from"},
		{with(func(c *notify.Config) { c.From, c.SMTP = "", "smtp://sia@example.com@mail.example.com" }), ""},
		{with(func(c *notify.Config) { c.To = nil }), "set --notify-to"},
		{with(func(c *notify.Config) { c.To = []string{"anna@example.com\r\nBcc: eve@example.com"} }), "no e-mail address"},
	} {
		err := c.config.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.config, err, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("a secret is in %v", err)
		}
	}
}

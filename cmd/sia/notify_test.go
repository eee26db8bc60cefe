package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/notify"
	"github.com/sia-bot/sia/cmd/internal/cli"
)

// sia notify test shows whether a message arrives, and otherwise what to do; the address stays secret.
func TestNotifyTest(t *testing.T) {
	const path = "/services/T0001/B0002/abcdefghijklmnop"
	got := make(chan string, 1)
	chat := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct{ Text string }
		if r.URL.Path != path || json.NewDecoder(r.Body).Decode(&m) != nil {
			http.Error(w, "no such "+r.URL.Path, http.StatusNotFound)
			return
		}
		got <- m.Text
	}))
	defer chat.Close()
	for _, c := range []struct {
		url, arg string
		code     int
		want     string
	}{
		{chat.URL + path, "text", cli.ExitDone, "webhook  sent"},
		{chat.URL + path, "json", cli.ExitDone, `"sent": true`},
		{chat.URL + path + "gone", "json", cli.ExitFailed, "make a new webhook"},
		{"", "text", cli.ExitFailed, "set SIA_NOTIFY_URL"},
		{"hooks.example.com" + path, "text", cli.ExitUsage, "set SIA_NOTIFY_URL"},
	} {
		t.Setenv("SIA_NOTIFY_URL", c.url)
		var said strings.Builder
		if code := runCommand(t.Context(), []string{"notify", "test", "--output", c.arg}, &said, &said); code != c.code ||
			!strings.Contains(said.String(), c.want) || strings.Contains(said.String(), path) {
			t.Errorf("%s: exit %d, want %d: %s", c.url, code, c.code, said.String())
		}
		if c.code == cli.ExitDone && !strings.HasPrefix(<-got, "SIA: a test\n") {
			t.Error("another message arrived")
		}
	}
}

// Doctor reports whether messages are configured, and whether they could be sent.
func TestDoctorLooksAtMessages(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer up.Close()
	down := httptest.NewServer(http.NotFoundHandler())
	down.Close()
	for _, c := range []struct {
		url, want string
		code      error
	}{
		{"", "off: no message outside of GitHub", nil}, {up.URL, "it can be reached", nil},
		{down.URL, "check its address", cli.ErrShown},
	} {
		var out strings.Builder
		err := reportFindings(&cli.Env{Out: &out, Err: io.Discard}, cli.Format{},
			checkNotify(t.Context(), notify.Config{URL: c.url}))
		if !errors.Is(err, c.code) || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %v, %s", c.url, err, out.String())
		}
	}
}

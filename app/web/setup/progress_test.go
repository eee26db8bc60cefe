package setup_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/app/web/setup"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sim/ghsim"
)

// server is a server with its app: a store, and a webhook with a given answer.
type server struct {
	*place
	store  *store.Store
	app    ghsim.App
	answer int
	pages  *httptest.Server
}

func serving(t *testing.T, answer int) *server {
	t.Helper()
	s := &server{place: open(t), answer: answer}
	ctx := t.Context()
	var err error
	s.store = storetest.Open(t, store.Config{URL: "sqlite:" + s.dir + "/sia.db"})
	s.app, err = s.CreateApp("sia")
	s.must(err)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.answer == http.StatusAccepted {
			body, err := io.ReadAll(r.Body)
			s.must(err)
			_, err = s.store.SaveDelivery(ctx, store.Delivery{GUID: r.Header.Get("X-GitHub-Delivery"),
				Event: r.Header.Get("X-GitHub-Event"), Body: body, Received: s.clock.Now()})
			s.must(err)
		}
		w.WriteHeader(s.answer)
	}))
	t.Cleanup(hook.Close)
	s.must(s.SetWebhook(s.app.ID, hook.URL+"/webhook", "s"))
	s.settle()
	return s
}

func (s *server) settle() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	s.must(s.WaitIdle(ctx))
}

// page is /setup of a server that has been running for a time.
func (s *server) page(served time.Duration) *browser {
	s.t.Helper()
	a, err := github.New(github.Config{AppID: s.app.ID, PrivateKey: s.app.PrivateKeyPEM, BaseURL: s.APIURL(),
		Secrets: &secret.Masker{}, Writes: github.Uncounted{}, Now: s.clock.Now})
	s.must(err)
	p := setup.NewProgress(a, s.store, public, s.clock.Now().Add(-served), slog.New(slog.DiscardHandler), s.clock.Now)
	s.pages = httptest.NewServer(door(p.Handler()))
	s.t.Cleanup(s.pages.Close)
	b := s.browser()
	b.open(s.pages.URL + "/setup")
	return b
}

func (b *browser) wants(what string, texts ...string) {
	b.p.t.Helper()
	for _, want := range texts {
		if !strings.Contains(plain.Replace(b.body), want) {
			b.p.t.Errorf("%s: lacks %q: %d %s", what, want, b.code, b.body)
		}
	}
}

func TestWebhooksThatDontArriveAreExplained(t *testing.T) {
	for name, c := range map[string]struct {
		answer int
		served time.Duration
		want   string
	}{
		"another secret":  {http.StatusUnauthorized, time.Hour, "webhook_secret in github-app.json"},
		"not reached":     {http.StatusBadGateway, time.Hour, "check the address, the firewall and the certificate"},
		"another path":    {http.StatusNotFound, time.Hour, "something answers there that is not SIA's webhook"},
		"somebody else":   {http.StatusOK, time.Hour, "Something else answers at "},
		"before it began": {http.StatusServiceUnavailable, -time.Hour, "Press “Have it sent again” to test"},
	} {
		b := serving(t, c.answer).page(c.served)
		b.wants(name, c.want, "Install it on repositories", `http-equiv="refresh"`)
		if strings.Contains(b.body, "✓ Webhooks arrive") {
			t.Errorf("%s: they arrive", name)
		}
	}
}

// A registration for a server that already has an app is reported as unused.
func TestARegistrationAfterSetUp(t *testing.T) {
	s := serving(t, http.StatusAccepted)
	b := s.page(time.Hour)
	b.open(s.pages.URL + "/setup/done")
	if strings.Contains(b.body, "another app") {
		t.Errorf("nothing was registered: %s", b.body)
	}
	b.open(s.pages.URL + "/setup/done?code=c&state=s")
	b.wants("another registration", "SIA has its app already, sia.", "GitHub Apps", "✓ The app is registered")
	if b.url.Query().Has("code") {
		t.Errorf("the code stays in the address: %s", b.url)
	}
}

// All steps: the ping is redelivered, the app is installed, and the page stops reloading itself.
func TestProgress(t *testing.T) {
	s := serving(t, http.StatusServiceUnavailable)
	b := s.page(-time.Hour)
	s.answer = http.StatusAccepted
	b.submit("csrf", "")
	b.wants("after it was asked for again", "Set-up")
	s.settle()
	s.clock.Advance(5 * time.Second)
	b.open(s.pages.URL + "/setup")
	b.wants("a ping", "✓ Webhooks arrive", "The last one that arrived: ping")
	_, err := s.CreateRepo("acme", "shop", ghsim.RepoSpec{Files: map[string]string{"a": "a"}})
	s.must(err)
	_, err = s.Install(s.app.ID, "acme")
	s.must(err)
	s.settle()
	calls := s.CountCalls()
	for range 20 {
		b.open(s.pages.URL + "/setup")
	}
	if n := s.CountCalls() - calls; n != 0 {
		t.Errorf("GitHub was asked %d times within five seconds", n)
	}
	s.clock.Advance(5 * time.Second)
	b.open(s.pages.URL + "/setup")
	b.wants("installed", "✓ It is installed", "acme", "installation", "Label an issue", public)
	if strings.Contains(b.body, "http-equiv") {
		t.Error("it renews itself, although nothing is missing")
	}
	s.FailRequests(func(r *http.Request) *ghsim.Fault {
		if strings.HasSuffix(r.URL.Path, "/app/installations") {
			return &ghsim.Fault{Status: http.StatusUnauthorized}
		}
		return nil
	})
	s.clock.Advance(5 * time.Second)
	b.open(s.pages.URL + "/setup")
	b.wants("GitHub says no", "GitHub could not be asked", "http-equiv")
}

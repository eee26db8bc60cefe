package webhook

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

// A token has the permissions of the time when it was issued. After a change of the installation, the next request
// gets a new one.
func TestChangedInstallationsGetNewTokens(t *testing.T) {
	minted := 0
	mux := http.NewServeMux()
	answer := func(pattern string, body func() string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body()) })
	}
	answer("GET /app", func() string { return `{"id":7,"slug":"sia","permissions":{}}` })
	answer("GET /app/installations/1", func() string { return `{"id":1,"account":{"login":"o"},"permissions":{}}` })
	answer("GET /users/{login}", func() string { return `{"id":77}` })
	answer("GET /repositories/9/issues/3", func() string { return `{"number":3,"state":"open","labels":[]}` })
	mux.HandleFunc("POST /app/installations/1/access_tokens", func(w http.ResponseWriter, _ *http.Request) {
		minted++
		w.WriteHeader(http.StatusCreated)
		_, _ = fmt.Fprintf(w, `{"token":"t%d","expires_at":%q}`, minted, time.Now().Add(time.Hour).Format(time.RFC3339))
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()

	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	app, err := github.New(github.Config{AppID: 7, BaseURL: srv.URL, Secrets: &secret.Masker{}, Writes: github.Uncounted{},
		PrivateKey: pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})})
	if err != nil {
		t.Fatal(err)
	}
	s := storetest.Open(t, store.Config{})
	intake := &Intake{Deps{Store: s, GitHub: app, Secrets: &secret.Masker{}, Logger: slog.New(slog.DiscardHandler),
		Now: time.Now}}

	read := func() {
		t.Helper()
		if _, err := app.Repo(1, sia.Repo{ID: 9, Owner: "o", Name: "r"}).Issue(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
	}
	const about = `"installation":{"id":1,"account":{"login":"o"}},"sender":{"login":"ada"}`
	for _, c := range []struct{ event, body string }{
		{"installation", `{"action":"new_permissions_accepted",` + about + `}`},
		{"installation_repositories", `{"action":"removed","repositories_removed":[{"id":8,"name":"x"}],` + about + `}`},
		{"installation", `{"action":"suspend",` + about + `}`},
		{"installation", `{"action":"unsuspend",` + about + `}`},
		{"installation", `{"action":"deleted",` + about + `}`},
	} {
		read()
		read() // with the cached token
		before := minted
		if err := intake.Deliver(t.Context(), store.Delivery{GUID: "g", Event: c.event, Received: time.Now(),
			Body: []byte(c.body)}); err != nil {
			t.Fatal(err)
		}
		read()
		if minted != before+1 {
			t.Errorf("after %s %d tokens were made, want 1", c.body, minted-before)
		}
	}
	acts, err := s.Acts(t.Context(), store.ActFilter{Login: "ada"})
	if err != nil || len(acts) != 1 || acts[0].What != "uninstall app" || acts[0].Detail != "o" {
		t.Errorf("the audit has %+v, %v", acts, err)
	}
	if minted != 6 {
		t.Errorf("%d tokens were made for six rights", minted)
	}
}

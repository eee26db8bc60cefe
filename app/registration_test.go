package app

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/web/setup"
	"github.com/sia-bot/sia/app/web/signin"
)

// The stored app completes the configuration, and two apps are never mixed.
func TestStoredAppFillsIn(t *testing.T) {
	stored := setup.Registered{GitHub: "https://ghe.example", API: "https://api.example/",
		PublicURL:    "https://sia.example",
		Registration: github.Registration{ID: 7, PrivateKey: "k", WebhookSecret: "s", ClientID: "i", ClientSecret: "c"}}
	all := GitHubConfig{URL: "https://ghe.example", API: "https://api.example/", AppID: 7, PrivateKey: []byte("k"),
		WebhookSecret: "s", ClientID: "i", ClientSecret: "c"}
	elsewhere := Config{GitHub: GitHubConfig{URL: "https://github.com"}}
	for name, c := range map[string]struct {
		have, want Config
		fails      bool
	}{
		"nothing set": {Config{}, Config{GitHub: all, PublicURL: "https://sia.example"}, false},
		"flags win": {
			Config{PublicURL: "https://other.example", GitHub: GitHubConfig{URL: "https://GHE.example/", WebhookSecret: "mine"}},
			Config{PublicURL: "https://other.example",
				GitHub: GitHubConfig{URL: "https://ghe.example", API: "https://api.example/", AppID: 7,
					PrivateKey: []byte("k"), WebhookSecret: "mine", ClientID: "i", ClientSecret: "c"}}, false},
		"another app":    {Config{GitHub: GitHubConfig{AppID: 8}}, Config{GitHub: GitHubConfig{AppID: 8}}, false},
		"another GitHub": {elsewhere, elsewhere, true},
		"half of a sign-in": {Config{GitHub: GitHubConfig{ClientID: "x"}},
			Config{PublicURL: "https://sia.example", GitHub: withSignIn(all, "x", "")}, false},
		"an app of that name": {Config{GitHub: GitHubConfig{AppID: 7}},
			Config{GitHub: all, PublicURL: "https://sia.example"}, false},
	} {
		got, err := c.have.WithApp(stored)
		if d := cmp.Diff(c.want, got, cmpopts.IgnoreUnexported(ModelConfig{})); d != "" || (err != nil) != c.fails {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
}

// Set-up ends when another process, such as sia setup or another replica, has stored an app, and its link then lets
// nobody in. An app that was there before is not a new one.
func TestAppStoredByAnotherProcess(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]int64{"none was stored": 0, "one was stored": 7} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Config{Dir: t.TempDir(), Private: "127.0.0.1:0"}
			store := func(id int64) {
				b, err := json.Marshal(setup.Registered{GitHub: "https://ghe.example",
					Registration: github.Registration{ID: id, PrivateKey: "k", WebhookSecret: "s"}})
				if err == nil {
					err = os.WriteFile(filepath.Join(c.Dir, setup.File), b, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if before != 0 {
				store(before)
			}
			front, err := Listen(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			defer front.Close()
			var expired atomic.Bool
			now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
			invitation := signin.NewInvitation(setup.Path, false, func() time.Time {
				if expired.Load() {
					return now.Add(24 * time.Hour)
				}
				return now
			})
			expired.Store(true)
			// The first look finds no other app, and renews the link. The second one finds the app.
			made, err := SetUp(t.Context(), c, SetUpOptions{Front: front, Replace: true, Serves: true, Now: time.Now,
				Invitation: invitation, NewLink: func() { store(8) }, Logger: slog.New(slog.DiscardHandler)})
			if err != nil || made.ID != 8 {
				t.Errorf("%+v, %v", made, err)
			}
		})
	}
}

func withSignIn(g GitHubConfig, id, secret string) GitHubConfig {
	g.ClientID, g.ClientSecret = id, secret
	return g
}

package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/web/setup"
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

func withSignIn(g GitHubConfig, id, secret string) GitHubConfig {
	g.ClientID, g.ClientSecret = id, secret
	return g
}

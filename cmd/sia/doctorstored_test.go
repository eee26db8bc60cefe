package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/web/setup"
)

// Doctor reports whether the stored app is used, complete, and readable only by its owner.
func TestDoctorKnowsTheStoredApp(t *testing.T) {
	const whole = `{"github":"https://github.com","id":7,"name":"Seven","pem":"k","webhook_secret":"the secret"}`
	for name, c := range map[string]struct {
		content string
		mode    os.FileMode
		id      int64
		want    string
		ok      bool
	}{
		"used":           {whole, 0o600, 7, "Seven (7) at https://github.com, in ", true},
		"another's id":   {whole, 0o600, 8, "it is not used, for app 8 is configured", true},
		"open to others": {whole, 0o640, 7, "others on this machine can read its keys", false},
		"broken":         {"{", 0o600, 7, "can't be used", false},
		"none":           {"", 0, 0, "none is stored", false},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, setup.File)
		if c.content != "" {
			if err := os.WriteFile(path, []byte(c.content), c.mode); err != nil {
				t.Fatal(err)
			}
		}
		got := checkStored(dir, app.Config{GitHub: app.GitHubConfig{AppID: c.id}})
		if len(got) != 1 || got[0].OK != c.ok || !strings.Contains(got[0].Detail, c.want) ||
			strings.Contains(got[0].Detail, "the secret") || !c.ok && got[0].Fix == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := checkStored(t.TempDir(), app.Config{GitHub: app.GitHubConfig{AppID: 7}}); got != nil {
		t.Errorf("without set-up: %+v", got)
	}
}

func TestDoctorKnowsSignIn(t *testing.T) {
	with := app.GitHubConfig{ClientID: "i", ClientSecret: "s"}
	for want, c := range map[string]app.Config{
		"people sign in with GitHub at https://sia.example.com": {GitHub: with, PublicURL: "https://sia.example.com"},
		"off: the pages are for this machine alone":             {},
		"off: nobody knows at which address":                    {GitHub: with},
		"client id and secret are missing":                      {PublicURL: "https://sia.example.com"},
	} {
		if got := checkSignIn(c); !got.OK || !strings.Contains(got.Detail, want) {
			t.Errorf("want %q: %+v", want, got)
		}
	}
}

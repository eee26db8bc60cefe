package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/store"
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
	if got := checkStored(os.DevNull, app.Config{}); len(got) != 1 || got[0].OK ||
		got[0].Fix != "name the server's folder with --dir" {
		t.Errorf("a folder that is none: %+v", got)
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

// Attempts that wait for a runner while none is there are a fault; a runner that works is not away. That no runner can
// run tests is a weakness.
func TestDoctorAsksForRunners(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	gone := store.Runner{Name: "mill", Seen: now.Add(-time.Hour)}
	idle := store.Runner{Name: "barn", Seen: now, Tests: true}
	busy := store.Runner{Name: "loom", Seen: now.Add(-time.Hour), Tests: true, Attempts: []string{"k"}}
	plain := store.Runner{Name: "shed", Seen: now}
	waits := []store.RunnerStanding{{State: store.RunnerOffered}, {State: store.RunnerRunning},
		{State: store.RunnerOfferedTests, Tests: true}}
	for _, c := range []struct {
		onRunners  bool
		all        []store.Runner
		offered    []store.RunnerStanding
		ok, weaker bool
		want       string // "": no finding
	}{
		{false, []store.Runner{gone}, nil, false, false, ""},
		{false, nil, waits, false, false, "there is none; 1 attempt waiting for a runner"},
		{true, nil, nil, true, true, "there is none; 0 attempts waiting"},
		{true, []store.Runner{gone, {Name: "new"}}, waits, false, false, "all 2 are away; 1 attempt waiting for a runner;"},
		{true, []store.Runner{gone}, nil, true, true, "all 1 are away"},
		{true, []store.Runner{gone, idle}, waits, true, false, "1 of 2 are there; 1 attempt waiting"},
		{true, []store.Runner{busy}, waits, true, false, "1 of 1 are there"},
		{true, []store.Runner{plain}, nil, true, true, "waiting for a runner. None of them can run tests"},
	} {
		found := checkRunners(c.onRunners, c.all, c.offered, now)
		if len(found) == 0 {
			if c.want != "" {
				t.Errorf("%+v: no finding", c)
			}
			continue
		}
		if f := found[0]; c.want == "" || f.OK != c.ok || f.Weaker != c.weaker || !strings.Contains(f.Detail, c.want) ||
			f.OK && !f.Weaker == (f.Fix != "") {
			t.Errorf("%+v: %+v", c, f)
		}
	}
}

func TestDoctorAsksForSpace(t *testing.T) {
	for free, ok := range map[int64]bool{app.MinFree: true, app.MinFree - 1: false} {
		if f := checkFree(free); f.OK != ok || ok != (f.Fix == "") {
			t.Errorf("%d bytes are free: %+v", free, f)
		}
	}
}

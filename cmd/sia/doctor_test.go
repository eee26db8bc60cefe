package main

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sim/ghsim"
)

// A server without a sandbox works, and doctor reports what is off and how to fix it.
func TestDoctorWithoutSandbox(t *testing.T) {
	f := checkSandbox(t.Context(), sandbox.Options{Bwrap: "/no/such/bwrap"})
	var out bytes.Buffer
	if err := reportFindings(&cli.Env{Out: &out}, cli.Format{}, []doctorFinding{f}); err != nil {
		t.Errorf("doctor ends with %v", err)
	}
	for _, want := range []string{"! sandbox", "no sandbox: ", "Off: the tools run and test, agent.setup",
		"→ install bubblewrap"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
}

func TestDoctorFindsAgents(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bin", "codex"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	f := installedAgents([]string{dir})
	if want := "codex (" + filepath.Join(dir, "bin", "codex") + ")"; !f.OK || !strings.Contains(f.Detail, want) {
		t.Errorf("%+v", f)
	}
}

// A GitHub that does not answer, or has many installations, takes no time from later checks.
func TestDoctorWithoutGitHub(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	sim, err := ghsim.New(ghsim.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
	made, err := sim.CreateApp("sia")
	key := filepath.Join(t.TempDir(), "app.pem")
	if err := errors.Join(err, os.WriteFile(key, made.PrivateKeyPEM, 0o600)); err != nil {
		t.Fatal(err)
	}
	c := doctorServerCmd{serverFlags: serverFlags{databaseFlags: databaseFlags{Dir: t.TempDir()},
		GitHubURL: silent.URL, AppID: made.ID, AppKeyFile: key,
		modelFlags: modelFlags{ModelURL: halfDone(t), Model: "m"}}}
	found := map[string]bool{}
	for _, f := range c.checkAll(&cli.Env{Ctx: t.Context(), Logger: silentLogger()}, time.Millisecond) {
		found[f.What] = f.OK
	}
	if found["GitHub App"] || !found["model coder"] {
		t.Errorf("all right: %v", found)
	}
}

// Doctor reports a missing folder, and variables that are probably misspelt.
func TestDoctorOfSettingsThatDoNotWork(t *testing.T) {
	if f := installedAgents([]string{t.TempDir(), "/nonexistent"}); f.OK || !strings.Contains(f.Detail, "/nonexistent") {
		t.Errorf("%+v", f)
	}
	all := misspelledVariables([]string{"SIA_ATEMPTS=3", "SIA_MODELL=x", "SIA_MODEL=x", "SIA_REPO=given",
		"SIA_OPENAI_SECRET=x", "HOME=/", "SIA_RUNNER_TOKEN=x"}, []string{"SIA_REPO"})
	var said []string
	for _, f := range all {
		said = append(said, f.Detail+", "+f.Fix)
	}
	want := []string{"nothing reads the variable SIA_ATEMPTS, if it is misspelt, call it SIA_ATTEMPTS",
		"nothing reads the variable SIA_MODELL, if it is misspelt, call it SIA_MODEL"}
	if d := cmp.Diff(want, said); d != "" {
		t.Error(d)
	}
}

// If GitHub can't be reached, doctor names its address and the cause, and gives no advice on the app's key.
func TestDoctorSaysWhyGitHubIsOutOfReach(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	pemKey := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	all := checkGitHub(t.Context(), app.Config{GitHub: app.GitHubConfig{AppID: 1, PrivateKey: pemKey, URL: gone.URL}},
		&cli.Env{Logger: silentLogger()})
	if f := all[0]; len(all) != 1 || f.OK || !strings.Contains(f.Detail, gone.URL) ||
		!strings.Contains(f.Detail, "connection refused") || strings.Contains(f.Fix, "clock") {
		t.Errorf("%+v", all)
	}
}

// Both forms in which GitHub describes a webhook are accepted.
func TestDoctorKnowsBothFormsOfWebhooks(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	pemKey := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	for _, form := range []string{"json", "form"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"content_type":%q,"secret":"********","url":"https://sia.acme.dev/webhook"}`, form)
		}))
		t.Cleanup(srv.Close)
		a, err := github.New(github.Config{AppID: 1, BaseURL: srv.URL + "/", Writes: github.Uncounted{},
			Secrets: &secret.Masker{}, PrivateKey: pemKey})
		if err != nil {
			t.Fatal(err)
		}
		if f := checkHook(t.Context(), a); !f.OK || f.Weaker {
			t.Errorf("%s: %+v", form, f)
		}
	}
}

// Doctor rejects a database that its user may only read.
func TestDoctorAsksForRights(t *testing.T) {
	url := storetest.Postgres(t)
	_, err := storetest.Raw(t, url).Exec(`CREATE ROLE watcher LOGIN; GRANT SELECT ON goose_db_version TO watcher`)
	if err != nil {
		t.Fatal(err)
	}
	for user, ok := range map[string]bool{"sia": true, "watcher": false} {
		c := doctorServerCmd{serverFlags: serverFlags{databaseFlags: databaseFlags{
			DB: strings.Replace(url, "sia@", user+"@", 1)}}}
		if all := c.checkDatabase(t.Context(), &cli.Env{}, false); all[0].OK != ok || !ok &&
			!strings.Contains(all[0].Detail, `user "watcher" has no right to write`) {
			t.Errorf("%s: %+v", user, all)
		}
	}
}

// Doctor finds a trace receiver that is unreachable, that refuses, or that has no address.
func TestDoctorAsksTheReceiverOfTraces(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/traces" || r.Header.Get("Key") != "right" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(receiver.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, c := range []struct{ traces, key, want string }{
		{receiver.URL, "right", "the receiver takes them"},
		{receiver.URL, "wrong", "401 Unauthorized"},
		{gone.URL, "", "connection refused"},
		{"nonsense", "", "must begin with http:// or https://"},
	} {
		f := checkTraces(t.Context(), app.Config{Traces: c.traces, TraceHeaders: map[string]string{"Key": c.key}})
		if f.OK != (c.key == "right") || !strings.Contains(f.Detail, c.want) {
			t.Errorf("%s: %+v", c.traces, f)
		}
	}
}

package agent

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
)

// Setup that takes too long is stopped, and the agent is told, as for failed setup.
//
//test:thorough
func TestSetupThatTakesTooLongIsTold(t *testing.T) {
	f, err := NewCommands(sandboxtest.New(t, sandbox.Options{}), t.TempDir(), nil, time.Now,
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	f.setupTimeout = 100 * time.Millisecond
	in := Input{Repo: "acme/shop", Dir: t.TempDir(), OnBase: true, Setup: []string{"sleep 600"}}
	runner, message, note, err := f.openRunner(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	defer runner.close()
	const want = "took more than 100ms"
	if !strings.Contains(message, want) || !strings.Contains(note, want) {
		t.Errorf("told %q, noted %q", message, note)
	}
	if ready, err := runner.findKept(in); ready || err != nil {
		t.Errorf("a result that is not whole is kept: %v, %v", ready, err)
	}
}

// If setup is refused a host and then takes too long, both are reported: package managers retry for minutes.
//
//test:thorough
func TestSetupThatWaitsForARefusedHostIsTold(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	box := sandboxtest.New(t, sandbox.Options{Self: []string{self, "forward"}})
	in := Input{Repo: "acme/shop", Dir: t.TempDir(), OnBase: true, Setup: []string{`exec 3<>/dev/tcp/127.0.0.1/3128; ` +
		`printf 'CONNECT other.example:443 HTTP/1.1\r\nHost: x\r\n\r\n' >&3; head -1 <&3; sleep 600`}}
	message := ""
	for within := 200 * time.Millisecond; within < time.Minute; within *= 2 { // for slow machines
		f, err := NewCommands(box, t.TempDir(), []string{"allowed.example"}, time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		f.setupTimeout = within
		var runner *attemptRunner
		if runner, message, _, err = f.openRunner(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		runner.close()
		if strings.Contains(message, "What they install may be missing.\nSIA refused a connection to other.example:443: ") {
			return
		}
	}
	t.Errorf("told: %s", message)
}

// Build folders left by killed processes are removed by the next attempt, once they are too old to be in use.
func TestOldBuildsGo(t *testing.T) {
	cache, now := t.TempDir(), time.Now()
	for name, age := range map[string]time.Duration{"build-old": 49 * time.Hour, "build-new": 47 * time.Hour} {
		dir, at := filepath.Join(cache, "builds", name), now.Add(-age)
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "build", "go"), 0o700), os.Chtimes(dir, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := NewCommands(sandboxtest.New(t, sandbox.Options{}), cache, nil, func() time.Time { return now },
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	runner, err := f.newRunner(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	runner.close()
	left, err := os.ReadDir(filepath.Join(cache, "builds"))
	if err != nil || len(left) != 1 || left[0].Name() != "build-new" {
		t.Errorf("left: %v, %v", left, err)
	}
}

package agent

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
)

// Setup that takes longer than it may is stopped, and the agent is told, as it is of setup that fails.
//
//test:thorough
func TestSetupThatTakesTooLongIsTold(t *testing.T) {
	f, err := newRunnerFactory(sandboxtest.New(t, sandbox.Options{}), t.TempDir(), nil, time.Now,
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	f.setupWithin = 100 * time.Millisecond
	in := Input{Repo: "acme/shop", Dir: t.TempDir(), OnBase: true, Setup: []string{"sleep 600"}}
	runner, told, note, err := f.openRunner(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	defer runner.close()
	const want = "took more than 100ms"
	if !strings.Contains(told, want) || !strings.Contains(note, want) {
		t.Errorf("told %q, noted %q", told, note)
	}
	if ready, err := runner.findKept(in); ready || err != nil {
		t.Errorf("a result that is not whole is kept: %v, %v", ready, err)
	}
}

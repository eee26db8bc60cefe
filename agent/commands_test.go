package agent_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
)

// Build results of commands on the base are available to later ones, with and without setup; those of a branch are not.
//
//test:thorough
func TestCommandsKeepWhatTheyBuiltOnTheBase(t *testing.T) {
	for name, setup := range map[string][]string{"without setup": nil, "with setup": {"mkdir -p $GOCACHE"}} {
		t.Run(name, func(t *testing.T) {
			c, err := agent.NewCommands(sandboxtest.New(t, sandbox.Options{}), t.TempDir(), nil, time.Now,
				slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			run := func(lock, command string, onBase bool) string {
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "go.sum"), []byte(lock), 0o600); err != nil {
					t.Fatal(err)
				}
				var began []string
				res, failed, err := c.Run(t.Context(), agent.Input{Repo: "ada/shop", Dir: dir, OnBase: onBase, Setup: setup,
					Begins: func(command string) { began = append(began, command) }}, command, time.Minute, nil)
				if want := slices.Concat(setup, []string{command}); !slices.Equal(began, want) {
					t.Errorf("told that %q began, want %q", began, want)
				}
				if err != nil || failed != "" {
					t.Fatalf("%s: %q, %v", command, failed, err)
				}
				return strings.TrimSpace(string(res.Output))
			}
			const look = "cat $GOCACHE/built 2>&1; true"
			run("1", "mkdir -p $GOCACHE; echo on a branch > $GOCACHE/built", false)
			if got := run("1", look, false); !strings.Contains(got, "No such file") {
				t.Errorf("what a branch built is there: %s", got)
			}
			run("1", "mkdir -p $GOCACHE; echo on the base > $GOCACHE/built; echo 2 > go.sum; exit 1", true)
			for range 2 {
				if got := run("1", look+"; echo on a branch > $GOCACHE/built", false); got != "on the base" {
					t.Errorf("what the base built is %q", got)
				}
			}
			if got := run("2", look, false); !strings.Contains(got, "No such file") {
				t.Errorf("with other locks: %s", got)
			}
		})
	}
}

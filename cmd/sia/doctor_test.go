package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sia-bot/sia/agent/sandbox"
)

// A server without a sandbox works, and is told what is off and how to get it.
func TestDoctorWithoutSandbox(t *testing.T) {
	f := checkSandbox(t.Context(), sandbox.Options{Bwrap: "/no/such/bwrap"})
	var out bytes.Buffer
	if err := reportFindings(&commandEnv{out: &out}, "text", []doctorFinding{f}); err != nil {
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

package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/cmd/internal/cli"
)

// A server without a sandbox works, and is told what is off and how to get it.
func TestDoctorWithoutSandbox(t *testing.T) {
	f := checkSandbox(t.Context(), sandbox.Options{Bwrap: "/no/such/bwrap"})
	var out bytes.Buffer
	if err := reportFindings(&cli.Env{Out: &out}, "text", []doctorFinding{f}); err != nil {
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

// Doctor asks for what the manifest asks for, and nothing else.
func TestDoctorKnowsTheManifest(t *testing.T) {
	b, err := os.ReadFile("../../app.yml")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Permissions map[string]string `yaml:"default_permissions"`
		Events      []string          `yaml:"default_events"`
	}
	if err := yaml.Unmarshal(b, &manifest); err != nil {
		t.Fatal(err)
	}
	permissions, events := map[string]string{}, map[string]bool{}
	for _, p := range neededPermissions {
		permissions[p.permission] = p.access
	}
	for _, n := range neededEvents {
		events[n.event] = true
	}
	slices.Sort(manifest.Events)
	if d := cmp.Diff(manifest.Permissions, permissions) +
		cmp.Diff(manifest.Events, slices.Sorted(maps.Keys(events))); d != "" {
		t.Error(d)
	}
}

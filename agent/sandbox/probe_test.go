//go:build linux

package sandbox_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sia-bot/sia/agent/sandbox"
)

// A probe that times out does not advise to change the kernel's settings.
func TestProbeOnABusyMachine(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if found := sandbox.Probe(ctx, sandbox.Options{}); found.OK() || !strings.Contains(found.Fix, "less busy") {
		t.Errorf("%s; %s", found, found.Fix)
	}
}

func TestProbeSaysWhatIsMissing(t *testing.T) {
	script := func(text string) string {
		p := filepath.Join(t.TempDir(), "bwrap")
		write(t, p, "#!/bin/sh\n"+text+"\n")
		return p
	}
	for _, c := range []struct {
		name      string
		o         sandbox.Options
		why, todo string
	}{
		{"none", sandbox.Options{Bwrap: "/no/such/bwrap"}, "does not tell its version", "install bubblewrap"},
		{"old", sandbox.Options{Bwrap: script("echo bubblewrap 0.6.1")}, "0.6.1 is too old", "install bubblewrap"},
		{"strange", sandbox.Options{Bwrap: script("echo hello")}, "unknown version", "install bubblewrap"},
		{"no namespaces", sandbox.Options{Bwrap: script(`[ "$1" = --version ] && echo bubblewrap 0.11.0 && exit; echo ` +
			`"bwrap: No permissions to create new namespace" >&2; exit 1`)},
			"No permissions to create new namespace", "user namespaces"},
		{"nothing done", sandbox.Options{Bwrap: script(`[ "$1" = --version ] && echo bubblewrap 0.11.0 && exit; exit 0`)},
			"could not make the sandbox", "user namespaces"},
		{"not separated", sandbox.Options{Bwrap: script(`[ "$1" = --version ] && echo bubblewrap 0.11.0 && exit
			n() { stat -L -c %i /proc/self/ns/$1; }
			echo "{\"child-pid\": $$, \"net-namespace\": $(n net), \"mnt-namespace\": $(n mnt), \"pid-namespace\": $(n ` +
			`pid), \"ipc-namespace\": $(n ipc)}" >&3; exec sleep 60`)},
			"did not separate the", "user namespaces"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := sandbox.Probe(context.Background(), c.o)
			if found.OK() || found.Kind != sandbox.KindNone || !strings.Contains(found.String(), c.why) ||
				!strings.Contains(found.Fix, c.todo) {
				t.Errorf("%s; %s", found, found.Fix)
			}
			if _, err := sandbox.New(c.o, found); err == nil {
				t.Error("a sandbox was made of nothing")
			}
		})
	}
	if _, err := sandbox.New(sandbox.Options{}, sandbox.Capability{}); err == nil {
		t.Error("a sandbox was made without a probe")
	}
}

// If temporary files can't be written, the advice is not about namespaces.
func TestProbeWithoutTemporaryFolder(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "gone"))
	if found := sandbox.Probe(t.Context(), sandbox.Options{}); found.OK() || !strings.Contains(found.Fix, "TMPDIR") {
		t.Errorf("%s; %s", found, found.Fix)
	}
}

// Root that may not hand files over is not told about the folder for temporary files.
func TestProbeByRootWithoutCapabilities(t *testing.T) {
	err := fmt.Errorf("run in sandbox: %w", &fs.PathError{Op: "lchown", Path: "/tmp/tree", Err: fs.ErrPermission})
	if fix := sandbox.FixFor(err); !strings.Contains(fix, "ordinary user") {
		t.Error(fix)
	}
}

// A sandbox that does not isolate is detected, and not used.
func TestProbeFindsAHole(t *testing.T) {
	box(t, sandbox.Options{})
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Fatal(err)
	}
	// The arguments are read from descriptor 7; this wrapper changes the user.
	p := filepath.Join(t.TempDir(), "bwrap")
	write(t, p, `#!/bin/bash
here=$(dirname "$0")
case "$1" in
--args) ;;
--dev-bind) exec `+bwrap+` "${@:1:5}" --bind "$here" "$here" "${@:6}";; # root's first step
*) exec `+bwrap+` "$@";;
esac
exec 7< <(tr '\0' '\n' <&7 | sed 's/^1000$/1001/' | tr '\n' '\0')
exec `+bwrap+` "$@"
`)
	if err := os.Chmod(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	found := sandbox.Probe(context.Background(), sandbox.Options{Bwrap: openPath(t, p)})
	if found.OK() || !strings.Contains(found.String(), "does not hold") ||
		!strings.Contains(found.String(), "runs as user 1001") {
		t.Errorf("%s", found)
	}
}

// openPath copies a program to a path that all users can access.
func openPath(t *testing.T, p string) string {
	dir, err := os.MkdirTemp("", "sia-open-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, filepath.Base(p))
	write(t, to, string(b))
	return to
}

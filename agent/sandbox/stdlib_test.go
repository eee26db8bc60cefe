//go:build linux

package sandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sia-bot/sia/agent/sandbox"
)

// compiler installs a fake go that records its calls instead of compiling; its size is its version.
func compiler(t *testing.T, version string) (env []string) {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "go", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\n[ \"$1\" = list ] && echo fmt && exit\n" +
		"[ -z \"$(ls /workspace)\" ] || exit 1\nmkdir -p $GOCACHE && echo \"$@\" >> $GOCACHE/fmt # " + version + "\n"
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	for dir := filepath.Dir(filepath.Dir(bin)); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the sandbox's user sees it
			t.Fatal(err)
		}
	}
	return []string{"PATH=" + bin + ":/usr/bin:/bin"}
}

// TestStdlibIsCompiledOnce tests that the standard library is compiled once for each version of Go, on demand, without
// any file of a repository.
func TestStdlibIsCompiledOnce(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "kept")
	env := compiler(t, "1")
	s := box(t, sandbox.Options{Env: env, Stdlib: kept})
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			dir, err := s.Stdlib(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			b, err := os.ReadFile(filepath.Join(dir, "go", "fmt"))
			if err != nil || string(b) != "build fmt testing/internal/testdeps\n" {
				t.Errorf("%q, %v", b, err)
			}
		})
	}
	group.Wait()
	first, err := s.Stdlib(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := box(t, sandbox.Options{Env: env, Stdlib: kept}).Stdlib(t.Context()) // like another process
	if err != nil || again != first {
		t.Errorf("%q, %v; want %q", again, err, first)
	}
	newer, err := box(t, sandbox.Options{Env: compiler(t, "1.1"), Stdlib: kept}).Stdlib(t.Context())
	if err != nil || newer == first || newer == "" {
		t.Errorf("of another version: %q, %v", newer, err)
	}
	if entries, err := os.ReadDir(kept); err != nil || len(entries) != 2 {
		t.Errorf("kept: %v, %v", entries, err)
	}
}

// Compiling is called before the library is compiled, and an interrupted build is continued the next time.
func TestStdlibGoesOn(t *testing.T) {
	kept := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	told := 0
	s := box(t, sandbox.Options{Env: compiler(t, "1"), Stdlib: kept, Compiling: func() { told++; stop() }})
	if dir, err := s.Stdlib(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("stopped: %q, %v", dir, err)
	}
	begun, err := filepath.Glob(filepath.Join(kept, "*"))
	if err != nil || len(begun) != 1 {
		t.Fatalf("left behind: %v, %v", begun, err)
	}
	if err := os.WriteFile(filepath.Join(begun[0], "half"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		dir, err := s.Stdlib(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"half", "go/fmt"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
	}
	if told != 2 {
		t.Errorf("told %d times that it is compiled; want 2", told)
	}
	if entries, err := os.ReadDir(kept); err != nil || len(entries) != 1 {
		t.Errorf("kept: %v, %v", entries, err)
	}
}

// TestStdlibIsNotThere tests that there is no library if it can't be compiled, or if no folder is configured.
func TestStdlibIsNotThere(t *testing.T) {
	broken := strings.Replace(compiler(t, "1")[0], "go/bin", "none", 1)
	for name, o := range map[string]sandbox.Options{
		"no program": {Env: []string{broken}, Stdlib: t.TempDir()},
		"no folder":  {Env: compiler(t, "1")},
	} {
		if dir, err := box(t, o).Stdlib(t.Context()); err != nil || dir != "" {
			t.Errorf("%s: %q, %v", name, dir, err)
		}
	}
}

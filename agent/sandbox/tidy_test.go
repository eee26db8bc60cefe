//go:build linux

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
)

// attackerTree creates a work tree with this program in it, as ./attacker.
func attackerTree(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile(self(t))
	if err != nil {
		t.Fatal(err)
	}
	return tree(t, map[string]string{"attacker": string(b)})
}

// deepest returns the nesting depth of folders in a tree, up to limit.
func deepest(t testing.TB, dir string, limit int) (depth int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, p)
		if depth = max(depth, strings.Count(rel, "/")+1); depth > limit {
			return fs.SkipAll
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return depth
}

// TestEscapeOfTheDeadlineByDepth tests that deeply nested folders take no more than the command's time, and are gone
// afterwards.
//
//test:plain
func TestEscapeOfTheDeadlineByDepth(t *testing.T) {
	s := box(t, sandbox.Options{})
	for _, c := range []struct{ name, sh string }{
		{"one below the other", "./attacker dig 8000"},
		{"with files beside them", "./attacker dig 1500; cd d/d/d; touch a b c; mkdir x; cd x; /workspace/attacker dig 1500"},
		{"closed", "./attacker dig 1500; chmod 0 d/d/d"},
		{"in the cache", "cd /cache/x; /workspace/attacker dig 1500"},
		{"while it goes on", "./attacker dig 1500; sleep 60"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			dir, cache := attackerTree(t), tree(t, nil)
			command := sandbox.Command{Dir: dir, Shell: c.sh, Limits: sandbox.Limits{Time: 5 * time.Second},
				Mounts: []sandbox.Mount{{From: cache, To: "/cache/x", Writable: true}}}
			r, err := s.Run(ctx, command)
			if err != nil || r.Ended == "" || ctx.Err() != nil {
				t.Errorf("%s, %v", r, err)
			}
			for _, d := range []string{dir, cache} {
				if n := deepest(t, d, 300); n > 201 {
					t.Errorf("folders are left that are %d deep", n)
				}
			}
			command.Shell = "ls -d /workspace"
			if r, err := s.Run(ctx, command); err != nil || !r.OK() {
				t.Errorf("afterwards: %s, %v", r, err)
			}
		})
	}
}

// TestEscapeOfACancelledRun tests that a canceled run returns soon, before a command and after it, for any content of
// the tree.
func TestEscapeOfACancelledRun(t *testing.T) {
	s, dir := box(t, sandbox.Options{}), tree(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := s.Run(ctx, sandbox.Command{Dir: dir, Shell: "touch made"})
	if err != nil || r.Ended != sandbox.ByCancel {
		t.Errorf("%s, %v", r, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "made")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it ran all the same")
	}
}

// TestClosedFilesAreOpened tests that SIA can read files that a command made unreadable.
func TestClosedFilesAreOpened(t *testing.T) {
	s, dir := box(t, sandbox.Options{}), tree(t, nil)
	r := run(t, s, sandbox.Command{Dir: dir, Limits: sandbox.Limits{Time: time.Minute},
		Shell: "mkdir a; touch a/file; chmod 0 a/file; chmod 0100 a"})
	if !r.OK() {
		t.Fatalf("%s\n%s", r, r.Output)
	}
	for name, want := range map[string]fs.FileMode{"a": 0o700, "a/file": 0o600} {
		if st, err := os.Stat(filepath.Join(dir, name)); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s: %s", name, fmt.Sprint(st.Mode(), err))
		}
	}
}

// TestEscapeByMode tests that a command can't leave set-user-ID or set-group-ID files behind.
func TestEscapeByMode(t *testing.T) {
	s, dir, cache := box(t, sandbox.Options{}), tree(t, nil), tree(t, nil)
	r := run(t, s, sandbox.Command{Dir: dir, Limits: sandbox.Limits{Time: time.Minute},
		Mounts: []sandbox.Mount{{From: cache, To: "/cache/x", Writable: true}},
		Shell: "mkdir -p a/b; for f in u g a/ug a/b/deep /cache/x/u; do cp /bin/true $f; done; chmod 4755 u a/b/deep " +
			"/cache/x/u; chmod 2755 g; chmod 6711 a/ug; chmod 2777 a; chmod 4755 .; ln u other; ln -s /bin/su link"})
	if !r.OK() {
		t.Fatalf("%s\n%s", r, r.Output)
	}
	seen := 0
	for _, root := range []string{dir, cache} {
		if err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			st, err := d.Info()
			if err != nil {
				return err
			}
			seen++
			if st.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
				t.Errorf("%s has %s", p, st.Mode())
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if seen != 11 {
		t.Errorf("%d entries are left", seen)
	}
	if st, err := os.Stat(filepath.Join(dir, "a", "ug")); err != nil || st.Mode() != 0o711 {
		t.Errorf("the rest of a mode: %s", fmt.Sprint(st.Mode(), err))
	}
}

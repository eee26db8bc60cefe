//go:build linux

package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// A folder that contains a user's home, with keys, is never mounted because of a program in it, by any path.
func TestToolchainInAHome(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"people/ada/bin/node", "people/ada/.local/bin/node", "people/ada/apps/node/bin/node",
		"bin/node"} {
		file := filepath.Join(top, p)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("people", filepath.Join(top, "home")); err != nil { // as if homes are on another disk
		t.Fatal(err)
	}
	for _, c := range []struct{ home, path, shown string }{
		{"people/ada", "people/ada/bin", ""},
		{"home/ada", "home/ada/bin", ""},
		{"home/ada", "people/ada/.local/bin", ""},
		{"people/ada", "bin", ""},
		{"home/ada", "bin", ""},
		{"home/ada", "home/ada/apps/node/bin", "people/ada/apps/node"},
	} {
		found := findToolchains([]string{"HOME=" + filepath.Join(top, c.home), "PATH=" + filepath.Join(top, c.path)})
		shown := ""
		if len(found) == 1 && len(found[0].Dirs) == 1 {
			if shown, err = filepath.Rel(top, found[0].Dirs[0]); err != nil {
				t.Fatal(err)
			}
		}
		if shown != c.shown {
			t.Errorf("home %s, PATH %s: %q is shown, want %q", c.home, c.path, shown, c.shown)
		}
	}
}

//go:build linux

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
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

// The programs behind those that version managers put into PATH are found, and what programs of Homebrew need.
func TestToolchainsOfManagers(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{
		".asdf/shims/node", ".asdf/installs/nodejs/20.1.0/bin/node", ".asdf/installs/nodejs/9.0.0/bin/node",
		".asdf/shims/go", ".asdf/installs/golang/1.22/go/bin/go", ".asdf/installs/golang/1.22/packages/bin/x",
		".volta/bin/node", ".volta/tools/image/node/18.1.0/bin/node", ".volta/tools/image/node/20.2.0/bin/node",
		"miniconda3/bin/python3", "miniconda3/conda-meta/history",
		"brew/Cellar/ruby/3.3/bin/ruby", "brew/opt/x", "brew/bin/x", "brew/etc/x",
	} {
		write(name, "#!/bin/sh\n")
	}
	write(".tool-versions", "python 3.12\nnodejs 20.1.0\n")
	write(".volta/tools/user/platform.json", `{"node": {"runtime": "18.1.0", "npm": null}}`)
	if err := os.Symlink("../Cellar/ruby/3.3/bin/ruby", filepath.Join(home, "brew/bin/ruby")); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string][]string{
		".asdf/shims": {".asdf/installs/golang/1.22/go", ".asdf/installs/nodejs/20.1.0"}, "miniconda3/bin": {"miniconda3"},
		".volta/bin": {".volta/tools/image/node/18.1.0"}, "brew/bin": {"brew/Cellar", "brew/opt"},
	} {
		var shown []string
		for _, found := range findToolchains([]string{"HOME=" + home, "PATH=" + filepath.Join(home, dir)}) {
			for _, at := range found.Dirs {
				at, _ = filepath.Rel(home, at)
				shown = append(shown, at)
			}
		}
		if !slices.Equal(shown, want) {
			t.Errorf("%s: %q is shown, want %q", dir, shown, want)
		}
	}
}

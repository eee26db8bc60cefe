//go:build linux

package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sia-bot/sia/agent/sandbox"
)

// RemoveAll removes folders that are nested deeper than files can be open at the same time, with any permissions, and
// with other entries. It also removes a file.
func TestRemoveAllOfAnyDepth(t *testing.T) {
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	parent := t.TempDir()
	root, err := os.OpenRoot(parent)
	must(err)
	defer root.Close()
	must(root.Mkdir("tree", 0o755), root.WriteFile(".removed-0", []byte("somebody's"), 0o600),
		root.WriteFile("file", nil, 0))
	at, err := root.OpenRoot("tree")
	must(err)
	for i := range 1000 {
		must(at.Mkdir("d", 0o755), at.WriteFile("f", nil, 0o600), at.Symlink("/", "link"))
		if i%10 == 9 {
			must(at.Mkdir(".removed-1", 0))
		}
		next, err := at.OpenRoot("d")
		must(err)
		if i%100 == 99 {
			must(at.Chmod("d", 0))
		}
		must(at.Close())
		at = next
	}
	must(at.Close())

	var limit syscall.Rlimit
	must(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit),
		syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 100, Max: limit.Max}))
	defer func() { must(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) }()
	for _, name := range []string{"tree", "file", "none"} {
		must(sandbox.RemoveAll(filepath.Join(parent, name)))
	}
	left, err := os.ReadDir(parent)
	must(err)
	if len(left) != 1 || left[0].Name() != ".removed-0" {
		t.Errorf("left: %v", left)
	}
}

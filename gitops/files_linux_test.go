package gitops

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Folders that are nested deeper than files can be open at a time are removed all the
// same, closed or not, with what stands beside them.
func TestRemoveTreeOfAnyDepth(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "tree")
	root := must[*os.Root](t)(os.OpenRoot(parent))
	defer root.Close()
	must0(t, root.Mkdir("tree", 0o755))
	must0(t, root.WriteFile(".removed-0", []byte("somebody's"), 0o600))
	at := must[*os.Root](t)(root.OpenRoot("tree"))
	for i := range 1000 {
		must0(t, at.Mkdir("d", 0o755))
		must0(t, at.WriteFile("f", nil, 0o600))
		must0(t, at.Symlink("/", "link"))
		if i%10 == 9 {
			must0(t, at.Mkdir(".removed-1", 0))
		}
		next := must[*os.Root](t)(at.OpenRoot("d"))
		if i%100 == 99 {
			must0(t, at.Chmod("d", 0))
		}
		must0(t, at.Close())
		at = next
	}
	must0(t, at.Close())

	var limit syscall.Rlimit
	must0(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	must0(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 100, Max: limit.Max}))
	defer func() { must0(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) }()
	must0(t, removeTree(dir))
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it is still there")
	}
	left := must[[]os.DirEntry](t)(os.ReadDir(parent))
	if len(left) != 1 || left[0].Name() != ".removed-0" {
		t.Errorf("left: %v", left)
	}
}

package gitops

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// A work tree with a file or a folder that can't be read can't be committed. Root could read it: the thread that looks
// has another user's rights.
func TestUnreadable(t *testing.T) {
	for _, closed := range []string{"folder/file", "folder/inner"} {
		dir := t.TempDir()
		write(t, dir, map[string]string{"folder/file": "x", "folder/inner/file": "x"})
		for _, name := range []string{".", "folder"} {
			must0(t, os.Chmod(filepath.Join(dir, name), 0o755))
		}
		must0(t, os.Chmod(filepath.Join(dir, closed), 0))
		root := must[*os.Root](t)(os.OpenRoot(dir))
		runtime.LockOSThread()
		if os.Geteuid() == 0 {
			must0(t, syscall.Setfsuid(65534))
		}
		s := workScanner{ctx: t.Context(), tracked: map[string]*indexEntry{}, folders: map[string]bool{}}
		err := s.dir(root, "", nil, false, 0)
		if os.Geteuid() == 0 {
			must0(t, syscall.Setfsuid(0))
		}
		runtime.UnlockOSThread()
		must0(t, root.Close())
		if !errors.Is(err, ErrTree) || !strings.Contains(err.Error(), closed+" can't be read") {
			t.Errorf("%s: %v", closed, err)
		}
	}
}

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

package gitops

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// A work tree with an unreadable file or folder can't be committed. Root could read it, so the reading thread has
// another user's rights.
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
		s := workScanner{ctx: t.Context(), tracked: map[string]*index.Entry{}, folders: map[string]bool{}}
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

//go:build linux

package testrun

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sia-bot/sia/gitops"
)

// ordinaryUser is the ID of an unprivileged user.
const ordinaryUser = 12345

// asOrdinaryUser makes the rest of a test access files as such a user. It returns a folder of the user.
func asOrdinaryUser(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if os.Geteuid() != 0 {
		return dir
	}
	for _, at := range []string{dir, filepath.Dir(dir)} { // the outer one is not accessible to others
		if err := os.Chown(at, ordinaryUser, ordinaryUser); err != nil {
			t.Fatal(err)
		}
	}
	runtime.LockOSThread() // file access rights belong to the thread
	act := func(as int) {
		if _, err := unix.SetfsgidRetGid(as); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.SetfsuidRetUid(as); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		act(0) // the folder may be in one of root's
		runtime.UnlockOSThread()
	})
	act(ordinaryUser)
	return dir
}

// TestWorkTreeOfClosedFolders tests that folders without permissions, left by tests, are replaced, for any user that
// runs SIA.
func TestWorkTreeOfClosedFolders(t *testing.T) {
	w := &WorkTree{Dir: filepath.Join(asOrdinaryUser(t), "tree")}
	made := map[string][]byte{}
	file := func(text string) gitops.HistoryFile {
		id := gitops.BlobID(int64(len(text)), strings.NewReader(text))
		made[id] = []byte(text)
		return gitops.HistoryFile{ID: id}
	}
	first := Files{"data/deep/a": file("a"), "data/gone/b": file("b"), "c": file("c")}
	next := Files{"data/deep/a": file("A"), "c": file("c")}
	if err := w.Set(t.Context(), first, made, nil); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"data/gone", "data/deep", "data"} {
		if err := os.Chmod(filepath.Join(w.Dir, dir), 0o555); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Set(t.Context(), next, made, nil); err != nil {
		t.Fatal(err)
	}
	if changed, err := w.Changed(t.Context(), next); err != nil || len(changed) > 0 {
		t.Errorf("not as it was to be: %q, %v", changed, err)
	}
	if st, err := os.Stat(filepath.Join(w.Dir, "data", "deep")); err != nil || st.Mode().Perm() != 0o755 {
		t.Errorf("folder %v, %v", st, err)
	}
}

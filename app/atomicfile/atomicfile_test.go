package atomicfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sia-bot/sia/app/atomicfile"
)

// holds fails unless the file has this content and these permissions, and is the only one in its folder.
func holds(t *testing.T, file, content string, mode fs.FileMode) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil || string(b) != content {
		t.Errorf("%q, %v, want %q", b, err, content)
	}
	if info, err := os.Lstat(file); err != nil || info.Mode() != mode {
		t.Errorf("%v, %v, want %v", info.Mode(), err, mode)
	}
	if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestReplace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	for _, c := range []struct {
		content string
		mode    fs.FileMode
	}{{"one", 0o600}, {"", 0o400}, {"three", 0o700}} {
		if err := atomicfile.Replace(file, []byte(c.content), c.mode); err != nil {
			t.Fatal(err)
		}
		holds(t, file, c.content, c.mode)
	}
}

// A link is replaced, and its target stays unchanged.
func TestReplaceOfALink(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other")
	file := filepath.Join(t.TempDir(), "f")
	if err := errors.Join(os.WriteFile(other, []byte("theirs"), 0o600), os.Symlink(other, file)); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Replace(file, []byte("ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	holds(t, file, "ours", 0o600)
	holds(t, other, "theirs", 0o600)
}

// An existing name is not replaced, not even a dangling link.
func TestCreate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := atomicfile.Create(file, []byte("first"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Create(file, []byte("second"), 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
	holds(t, file, "first", 0o600)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(t.TempDir(), "none"), link); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Create(link, []byte("x"), 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("in the place of a link: %v", err)
	}
}

// A name below a root can't lead out of it.
func TestCreateIn(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := errors.Join(root.Mkdir("in", 0o700), os.Symlink(outside, filepath.Join(dir, "out"))); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.CreateIn(root, "in/f", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	holds(t, filepath.Join(dir, "in", "f"), "x", 0o600)
	if err := atomicfile.CreateIn(root, "out/f", []byte("x"), 0o600); err == nil {
		t.Error("a link led out of the root")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside: %v, %v", entries, err)
	}
}

// Of several concurrent calls one succeeds, and no partial file is visible.
func TestCreateAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	var wg sync.WaitGroup
	won := make(chan []byte, 20)
	for i := range cap(won) {
		wg.Go(func() {
			content := bytes.Repeat(fmt.Append(nil, i, "\n"), 1000)
			switch err := atomicfile.Create(file, content, 0o600); {
			case err == nil:
				won <- content
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Fatalf("%d created it", len(won))
	}
	holds(t, file, string(<-won), 0o600)
}

// A discarded or failed draft leaves no file behind, and the old file unchanged.
func TestNothingIsLeftBehind(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := atomicfile.Create(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := atomicfile.Begin(file, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	d.Discard()
	d.Discard()
	if err := d.Replace([]byte("new")); err == nil {
		t.Error("what was discarded was written")
	}
	holds(t, file, "old", 0o600)

	folder := filepath.Join(t.TempDir(), "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Replace(folder, []byte("new"), 0o600); err == nil {
		t.Error("a folder was replaced")
	}
	if entries, err := os.ReadDir(filepath.Dir(folder)); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if err := atomicfile.Replace(filepath.Join(folder, "none", "f"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
}

package evidence

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Folders with code of unused repositories are removed, even if no tests are run.
func TestTidyRemovesUnusedFolders(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	folder := func(name string, unused time.Duration) string {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-unused), now.Add(-unused)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	used, unused := folder("ada%2Fshop", 29*24*time.Hour), folder("ada%2Fcafe", 31*24*time.Hour)
	left := folder("ada%2Fcafe~", 0) // by a removal that failed
	if err := os.Mkdir(filepath.Join(left, "tree"), 0o500); err != nil {
		t.Fatal(err)
	}
	other := folder("notes~", 31*24*time.Hour)
	locked := folder("ada%2Fbank", 0) // by another server, whose clock is late
	unlock, err := lock(t.Context(), locked)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if err := os.Chtimes(locked, time.Time{}, now.Add(-31*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	NewLooker(nil, dir, nil, func() time.Time { return now }).Tidy()
	for _, dir := range []string{used, locked, other} {
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	}
	for _, dir := range []string{unused, left} {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is left", filepath.Base(dir))
		}
	}
}

package agent

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Setup results of unused repositories are removed, even if no other setup follows.
func TestTidyRemovesUnusedSetups(t *testing.T) {
	t.Parallel()
	cache, now := t.TempDir(), time.Now()
	setup := func(name string, unused time.Duration) string {
		dir := filepath.Join(cache, setupsFolder, name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, now.Add(-unused), now.Add(-unused)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	used, unused := setup("a", 29*24*time.Hour), setup("b", 31*24*time.Hour)
	Tidy(cache, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	if _, err := os.Stat(used); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(unused); err == nil {
		t.Error("what was not used for 31 days is left")
	}
}

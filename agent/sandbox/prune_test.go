package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
)

func TestPrune(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		pattern  string
		unneeded func(newer int, unused time.Duration) bool
		left     string
	}{
		"all but the two used last": {"*", func(newer int, _ time.Duration) bool { return newer >= 2 }, "a-1 b-2"},
		"what was not used for two days": {"*",
			func(_ int, unused time.Duration) bool { return unused >= 48*time.Hour }, "a-1"},
		"none of another name": {"b-*", func(int, time.Duration) bool { return true }, "a-1 c-3"},
	} {
		dir := t.TempDir()
		for i, name := range []string{"a-1", "b-2", "c-3"} {
			at := now.Add(-time.Duration(i+1) * 24 * time.Hour)
			if err := os.MkdirAll(filepath.Join(dir, name, "x"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
				t.Fatal(err)
			}
		}
		if err := sandbox.Prune(dir, c.pattern, now, c.unneeded); err != nil {
			t.Error(err)
		}
		entries, err := os.ReadDir(dir)
		var left []string
		for _, e := range entries {
			left = append(left, e.Name())
		}
		if err != nil || strings.Join(left, " ") != c.left {
			t.Errorf("%s: %v are left, want %s (%v)", name, left, c.left, err)
		}
	}
	if err := sandbox.Prune(filepath.Join(t.TempDir(), "none"), "*", now, nil); err != nil {
		t.Error(err)
	}
}

package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sia-bot/sia/agent/sandbox"
)

// npmAt is where commands without a network find npm's cache.
const npmAt = sandbox.CacheDir + "/npm"

// Folders of npm's cache: the index, and what it leads to.
const (
	npmIndex   = "npm/_cacache/index-v5"
	npmContent = "npm/_cacache/content-v2"
)

// addNPM gives the runner a cache of npm that commands without a network can write. To read what a registry said of a
// package, npm writes the index of its cache anew, and takes a cache that it can't write for an empty one. So without
// a lock file, npm install would find no package. The index is a copy for this attempt; the content is not.
// https://github.com/npm/cacache/blob/main/lib/entry-index.js (compact)
func (w *attemptRunner) addNPM(ctx context.Context) error {
	deps, err := os.OpenRoot(w.deps)
	if err != nil {
		return fmt.Errorf("copy the index of npm's cache: %w", err)
	}
	defer deps.Close()
	index, err := deps.OpenRoot(npmIndex)
	if err != nil { // npm fetched nothing, or something else is there
		return nil
	}
	defer index.Close()
	if err := w.copyRoot(ctx, index, false, filepath.Join(w.home, npmIndex)); err != nil {
		return err
	}
	if err := os.Symlink(depsAt+"/"+npmContent, filepath.Join(w.home, npmContent)); err != nil {
		return fmt.Errorf("copy the index of npm's cache: %w", err)
	}
	w.npm = filepath.Join(w.home, "npm")
	return nil
}

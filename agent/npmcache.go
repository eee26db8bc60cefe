package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sia-bot/sia/agent/sandbox"
)

// npmAt is the path of npm's cache for commands without a network.
const npmAt = sandbox.CacheDir + "/npm"

// Folders of npm's cache: the index, and the content it refers to.
const (
	npmIndex   = "npm/_cacache/index-v5"
	npmContent = "npm/_cacache/content-v2"
)

// addNPMCache gives the runner a writable npm cache for commands without a network. When npm reads a package's cached
// metadata, it rewrites the index, and it treats an index that it can't write as empty. Without a lock file, npm
// install would then find no package. The index is copied for this attempt; the content is shared.
// https://github.com/npm/cacache/blob/main/lib/entry-index.js (compact)
func (w *attemptRunner) addNPMCache(ctx context.Context) error {
	deps, err := os.OpenRoot(w.deps)
	if err != nil {
		return fmt.Errorf("copy the index of npm's cache: %w", err)
	}
	defer deps.Close()
	index, err := deps.OpenRoot(npmIndex)
	if err != nil { // npm fetched nothing, or it is no folder
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

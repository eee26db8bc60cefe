package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// steering are the names of files and folders that configure agents, editors, package managers or git. A command that
// could write them could run code later.
var steering = sia.ToolConfigFiles()

// gitRootNames are git's own names at the root. Other names with this prefix only control ignoring, display or CI: the
// gate reports their lines where that matters, and neither the sandbox nor SIA's git uses them.
var gitRootNames = []string{".git", ".gitmodules"}

// isConfig reports whether the base name of a path is in steering, ignoring case, or the path is one of gitRootNames.
func isConfig(p string) bool {
	named := func(n string) bool { return strings.EqualFold(n, path.Base(p)) }
	return slices.ContainsFunc(steering, named) || path.Dir(p) == "." && slices.ContainsFunc(gitRootNames, named)
}

// maxConfigs is the maximum number of configuration files in a work tree before an attempt: each is mounted.
const maxConfigs = 1000

// undoTimeout limits the search for configuration after an attempt.
const undoTimeout = 20 * time.Second

// configFile is a file or folder of configuration.
type configFile struct {
	fs.FileInfo
	target string // target of a symbolic link
}

// same reports whether two are the same file, and therefore have the same content as long as they are read-only. A
// symbolic link can be replaced by another with the same inode number, so targets are compared too.
func (f configFile) same(other configFile) bool {
	return f.FileInfo != nil && os.SameFile(f.FileInfo, other.FileInfo) && f.Mode().Type() == other.Mode().Type() &&
		f.target == other.target
}

// findConfigs returns the configuration in a work tree, by path. It skips node_modules, which git ignores.
func findConfigs(ctx context.Context, root *os.Root) (map[string]configFile, error) {
	found := map[string]configFile{}
	err := fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "node_modules":
			return fs.SkipDir
		case !isConfig(p):
			return nil
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		f := configFile{FileInfo: st}
		if st.Mode()&fs.ModeSymlink != 0 {
			if f.target, err = root.Readlink(p); err != nil {
				return err
			}
		}
		if found[p] = f; d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for configuration of agents and editors: %w", err)
	}
	return found, nil
}

// protectConfigs finds the files that a command may only read.
func (r *commandRun) protectConfigs(ctx context.Context) error {
	var err error
	if r.configs, err = findConfigs(ctx, r.env.Root); err != nil {
		return err
	}
	if len(r.configs) > maxConfigs {
		return fmt.Errorf("the repository has more than %d files and folders that configure agents and editors", maxConfigs)
	}
	return nil
}

// undoConfigs removes configuration that the command created or replaced, and records the paths.
func (r *commandRun) undoConfigs(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	after, err := findConfigs(ctx, r.env.Root)
	if err != nil {
		return err
	}
	for _, p := range slices.Sorted(maps.Keys(after)) {
		if r.configs[p].same(after[p]) {
			continue
		}
		if err := r.env.Root.RemoveAll(p); err != nil {
			return fmt.Errorf("remove configuration of agents and editors: %w", err)
		}
		r.addNote("removed what configures agents or editors, which the command may not: " + clipLine(p, 200))
		if !slices.Contains(r.removed, p) {
			r.removed = append(r.removed, p)
		}
	}
	r.res.LeftOut = leftOut(undoneReason, r.removed)
	return nil
}

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

// steering are the names of files and folders that steer whoever comes next: whoever writes
// them decides what is run.
var steering = sia.ToolConfigFiles()

// atRoot are git's own there. What else begins so only says what is ignored, how files are shown or what CI does: the
// gate reports the lines where that matters, and nothing of the sandbox or of SIA's git obeys it.
var atRoot = []string{".git", ".gitmodules"}

// isConfig reports whether a path ends in one of the names that steer, in any case, or is one of git's at the root.
func isConfig(p string) bool {
	named := func(n string) bool { return strings.EqualFold(n, path.Base(p)) }
	return slices.ContainsFunc(steering, named) || path.Dir(p) == "." && slices.ContainsFunc(atRoot, named)
}

// maxConfigs bounds the configuration that a work tree has before an attempt: each file and
// folder of it is mounted.
const maxConfigs = 1000

// undoWithin bounds the look for configuration after an attempt.
const undoWithin = 20 * time.Second

// configFile is a file or folder of configuration.
type configFile struct {
	fs.FileInfo
	target string // of a symbolic link
}

// is reports whether two are the same, and say the same as long as they can only be read.
// A link can be replaced, and then its number may be that of another.
func (f configFile) is(other configFile) bool {
	return f.FileInfo != nil && os.SameFile(f.FileInfo, other.FileInfo) && f.Mode().Type() == other.Mode().Type() &&
		f.target == other.target
}

// findConfigs finds the configuration in a work tree: what lies where. What package
// managers installed is not looked at, since git ignores it.
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

// protectConfigs finds what a command may only read.
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

// undoConfigs removes configuration that the command made, or put in the place of what it
// could only read, and keeps what.
func (r *commandRun) undoConfigs(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoWithin)
	defer cancel()
	after, err := findConfigs(ctx, r.env.Root)
	if err != nil {
		return err
	}
	for _, p := range slices.Sorted(maps.Keys(after)) {
		if r.configs[p].is(after[p]) {
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
	r.res.LeftOut = leftOut(undone, r.removed)
	return nil
}

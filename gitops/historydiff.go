package gitops

import (
	"context"
	"maps"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// compareTrees visits the files that differ between two trees, folder by folder. Folders
// that are the same are not read.
func (h *History) compareTrees(
	ctx context.Context, was, now plumbing.Hash, dir string, depth int, visit func(HistoryChange) error,
) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case was == now:
		return nil
	case depth > maxDepth:
		return errDeep
	}
	old, err := h.readTree(was)
	if err != nil {
		return err
	}
	present, err := h.readTree(now)
	if err != nil {
		return err
	}
	names := maps.Clone(old)
	maps.Copy(names, present)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, b := old[name], present[name]
		if a == b {
			continue
		}
		at := path.Join(dir, name)
		if c := (HistoryChange{Path: at, Was: historyFile(a), Now: historyFile(b)}); c.Was != c.Now {
			if err := visit(c); err != nil {
				return err
			}
		}
		if a.isDir() || b.isDir() {
			if err := h.compareTrees(ctx, folderOf(a), folderOf(b), at, depth+1, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

func folderOf(e treeEntry) plumbing.Hash {
	if e.isDir() {
		return e.id
	}
	return plumbing.ZeroHash
}

// historyFile is an entry as a file; the zero value when it is none.
func historyFile(e treeEntry) HistoryFile {
	switch e.mode {
	case filemode.Regular, filemode.Executable, filemode.Symlink, filemode.Deprecated:
		return HistoryFile{ID: e.id.String(), Executable: e.mode == filemode.Executable, Link: e.mode == filemode.Symlink}
	}
	return HistoryFile{}
}

package gitops

import (
	"cmp"
	"context"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// treesWalk compares trees folder by folder, and visits the files that differ. Folders that are the same are not read.
type treesWalk struct {
	history *History
	kept    map[plumbing.Hash][]treeEntry // trees that were read; nil: none is kept
	visit   func(HistoryChange) error
}

// compareTrees visits the files that differ between two trees.
func (h *History) compareTrees(ctx context.Context, was, now plumbing.Hash, visit func(HistoryChange) error) error {
	w := treesWalk{history: h, visit: visit}
	return w.compare(ctx, was, now, "", 0)
}

func (w *treesWalk) compare(ctx context.Context, was, now plumbing.Hash, dir string, depth int) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case was == now:
		return nil
	case depth > maxDepth:
		return errDeep
	}
	old, err := w.entries(was)
	if err != nil {
		return err
	}
	present, err := w.entries(now)
	if err != nil {
		return err
	}
	for len(old)+len(present) > 0 {
		var a, b treeEntry
		switch order := order(old, present); {
		case order < 0:
			a, old = old[0], old[1:]
		case order > 0:
			b, present = present[0], present[1:]
		default:
			a, b, old, present = old[0], present[0], old[1:], present[1:]
		}
		if a == b {
			continue
		}
		at := path.Join(dir, cmp.Or(a.name, b.name))
		if c := (HistoryChange{Path: at, Was: historyFile(a), Now: historyFile(b)}); c.Was != c.Now {
			if err := w.visit(c); err != nil {
				return err
			}
		}
		if a.isDir() || b.isDir() {
			if err := w.compare(ctx, folderOf(a), folderOf(b), at, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// order says which of two lists comes next by name.
func order(a, b []treeEntry) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return cmp.Compare(a[0].name, b[0].name)
}

// maxTreeObject bounds one folder's tree object, in bytes.
const maxTreeObject = 64 << 20

// entries are those of a tree in the order of names.
func (w *treesWalk) entries(id plumbing.Hash) ([]treeEntry, error) {
	if id.IsZero() {
		return nil, nil
	}
	if list, ok := w.kept[id]; ok {
		return list, nil
	}
	b, err := w.history.readObject(plumbing.TreeObject, id, maxTreeObject)
	if err != nil {
		return nil, err
	}
	list, err := parseTree(b)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b treeEntry) int { return cmp.Compare(a.name, b.name) })
	if w.kept != nil {
		if len(w.kept) >= maxKeptTrees {
			clear(w.kept)
		}
		w.kept[id] = list
	}
	return list, nil
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

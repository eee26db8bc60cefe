package gitops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// HistoryNames is a commit with one parent, and the names of the files that it changed.
type HistoryNames struct {
	SHA   string
	Time  time.Time // when it was committed
	Paths []string  // in order; a file that was renamed has both names
}

// maxKeptTrees bounds the trees that a walk remembers: each but the last is compared twice.
const maxKeptTrees = 8192

// Names lists what the newest commits behind one changed, and that one itself, newest first: most commits are looked
// at. Left out are merges, first commits, those at which a shallow clone ends, and those that changed more than
// mostFiles files. No content of a file is needed: a clone that was made with the filter blob:none has all of this.
func (h *History) Names(ctx context.Context, from string, most, mostFiles int) ([]HistoryNames, error) {
	next, err := h.newestFirst(from)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	w := namesWalk{history: h, kept: map[plumbing.Hash][]treeEntry{}, mostFiles: mostFiles}
	var out []HistoryNames
	for range most {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read history: %w", missingObject(err))
		}
		if len(c.ParentHashes) != 1 || !h.has(c.ParentHashes[0]) {
			continue
		}
		was, err := h.treeOf(c.ParentHashes[0].String())
		if err != nil {
			return nil, err
		}
		w.paths = nil
		if err := w.compare(ctx, was, c.TreeHash, "", 0); err != nil && !errors.Is(err, errMany) {
			return nil, fmt.Errorf("read what %s changed: %w", c.Hash, err)
		}
		if n := len(w.paths); n > 0 && n <= mostFiles {
			out = append(out, HistoryNames{SHA: c.Hash.String(), Time: c.Committer.When, Paths: w.paths})
		}
	}
	return out, nil
}

// namesWalk finds what differs between trees. It keeps the trees that it read.
type namesWalk struct {
	history   *History
	kept      map[plumbing.Hash][]treeEntry
	mostFiles int
	paths     []string
}

// compare adds the files that differ below two trees, and ends with errMany when there are too many.
func (w *namesWalk) compare(ctx context.Context, was, now plumbing.Hash, dir string, depth int) error {
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
		if historyFile(a) != historyFile(b) {
			if w.paths = append(w.paths, at); len(w.paths) > w.mostFiles {
				return errMany
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

// entries are those of a tree in the order of names.
func (w *namesWalk) entries(id plumbing.Hash) ([]treeEntry, error) {
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
	if len(w.kept) >= maxKeptTrees {
		clear(w.kept)
	}
	w.kept[id] = list
	return list, nil
}

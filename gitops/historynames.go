package gitops

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
)

// HistoryNames is a commit with one parent, and the names of the files that it changed.
type HistoryNames struct {
	SHA   string
	Paths []string // in order; a file that was renamed has both names
}

// maxKeptTrees bounds the trees that a walk caches: each but the last is compared twice.
const maxKeptTrees = 8192

// errMore ends a comparison early.
var errMore = errors.New("more than is listed")

// Names lists the files that a commit and the newest commits behind it changed, newest first; it reads at most most
// commits. Merges, root commits, the boundary of a shallow clone, and commits with more than mostFiles files are left
// out. It needs no file content: a clone with the filter blob:none suffices.
func (h *History) Names(ctx context.Context, from string, most, mostFiles int) ([]HistoryNames, error) {
	next, err := h.newestFirst(from)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	var out []HistoryNames
	var paths []string // of the present commit
	kept := map[plumbing.Hash][]treeEntry{}
	read := func(id plumbing.Hash) (list []treeEntry, err error) {
		list, ok := kept[id]
		if ok {
			return list, nil
		}
		if list, err = h.readTree(id); err == nil {
			if len(kept) >= maxKeptTrees {
				clear(kept)
			}
			kept[id] = list
		}
		return list, err
	}
	visit := func(c HistoryChange) error {
		if paths = append(paths, c.Path); len(paths) > mostFiles {
			return errMore
		}
		return nil
	}
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
		paths = nil
		if err := h.compareTrees(ctx, read, was, c.TreeHash, visit); err != nil && !errors.Is(err, errMore) {
			return nil, fmt.Errorf("read what %s changed: %w", c.Hash, err)
		}
		if n := len(paths); n > 0 && n <= mostFiles {
			out = append(out, HistoryNames{SHA: c.Hash.String(), Paths: paths})
		}
	}
	return out, nil
}

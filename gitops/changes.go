package gitops

import (
	"context"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Change is a path that one commit adds to another or changes.
type Change struct {
	Path string
	// Open streams the content at Path: a file, or the name of a symlink's target. It is nil for a submodule.
	Open func() (io.ReadCloser, error)
	// Added reports whether the earlier commit has nothing at Path.
	Added bool
	// Seen reports whether this walk already visited another path with the same content.
	Seen bool
}

// EachChange calls visit for every path that a commit adds to another or changes, in order, whatever its size. before
// reads a file of the commit from, as [Repo.ReadFile] does.
func (r *Repo) EachChange(
	ctx context.Context, from, to string,
	visit func(c Change, before func(path string, limit int64) ([]byte, error)) error,
) error {
	commits := []string{from, to}
	return r.viewCommits(ctx, "look through changes", commits, func(o *packedObjects, at []plumbing.Hash) error {
		trees, err := o.treesOf(at)
		if err != nil {
			return err
		}
		changes, err := o.compareTrees(ctx, trees[0], trees[1])
		if err != nil {
			return err
		}
		before := func(path string, limit int64) ([]byte, error) { return o.readFile(trees[0], path, limit) }
		seen := map[plumbing.Hash]bool{}
		for _, x := range changes {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if x.new.mode == filemode.Empty {
				continue
			}
			change := Change{Path: x.path, Added: x.old.mode == filemode.Empty, Seen: seen[x.new.id]}
			seen[x.new.id] = true
			if x.new.mode != filemode.Submodule {
				change.Open = func() (io.ReadCloser, error) {
					in, _, err := o.openBlob(x.new.id)
					return in, err
				}
			}
			if err := visit(change, before); err != nil {
				return err
			}
		}
		return nil
	})
}

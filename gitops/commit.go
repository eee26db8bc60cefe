package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// newObject is an object to be put into a pack.
type newObject struct {
	id   plumbing.Hash
	kind plumbing.ObjectType
	open func() (io.ReadCloser, int64, error)
}

func inMemory(id plumbing.Hash, kind plumbing.ObjectType, b []byte) newObject {
	return newObject{id, kind, func() (io.ReadCloser, int64, error) {
		return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
	}}
}

// writePack writes the objects as a pack.
func writePack(out io.Writer, objs []newObject) (*packWriter, plumbing.Hash, error) {
	w, err := newPackWriter(out, len(objs))
	if err != nil {
		return nil, plumbing.ZeroHash, err
	}
	for _, o := range objs {
		in, size, err := o.open()
		if err != nil {
			return nil, plumbing.ZeroHash, err
		}
		err = w.add(o.id, o.kind, size, in)
		in.Close()
		if err != nil {
			return nil, plumbing.ZeroHash, err
		}
	}
	sum, err := w.finish()
	return w, sum, err
}

// Diff compares the work tree with Base: tracked files, and untracked ones that
// .gitignore does not name.
func (w *Workspace) Diff(ctx context.Context) (d Diff, err error) {
	err = w.repo.viewCommit(ctx, "diff workspace", w.Base(), func(o *packedObjects, _ plumbing.Hash) error {
		changes, err := w.scan(ctx)
		if err != nil {
			return err
		}
		root, err := os.OpenRoot(w.dir)
		if err != nil {
			return err
		}
		defer root.Close()
		d, err = makeDiff(ctx, changes, o.openBlob, workFiles(root, changes))
		return err
	})
	return d, err
}

// workFiles opens changed files of the work tree by their hash.
func workFiles(root *os.Root, changes []treeChange) blobOpener {
	at := map[plumbing.Hash]treeChange{}
	for _, c := range changes {
		at[c.new.id] = c
	}
	return func(id plumbing.Hash) (io.ReadCloser, int64, error) {
		c, ok := at[id]
		if !ok {
			return nil, 0, errChanged
		}
		return openFile(root, filepath.FromSlash(c.path), c.new.mode)
	}
}

// Commit commits everything in the work tree, as Diff shows it, on top of Base. It
// is [ErrEmpty] when nothing changed. The commit is in the mirror, so that it can be
// pushed when the workspace is gone.
func (w *Workspace) Commit(ctx context.Context, s CommitSpec) (sha string, err error) {
	for try := 1; ; try++ {
		err = w.repo.viewCommit(ctx, "commit", w.Base(), func(o *packedObjects, base plumbing.Hash) error {
			sha, err = w.commitOnce(ctx, o, base, s)
			return err
		})
		if try == maxTries || !errors.Is(err, errChanged) {
			return sha, err
		}
	}
}

func (w *Workspace) commitOnce(
	ctx context.Context, o *packedObjects, base plumbing.Hash, s CommitSpec,
) (string, error) {
	changes, err := w.scan(ctx)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	open := workFiles(root, changes)
	e := treeEdits{}
	var objs []newObject
	seen := map[plumbing.Hash]bool{}
	for _, c := range changes {
		e[c.path] = c.new
		if id := c.new.id; c.new.mode != filemode.Empty && !seen[id] && !o.hasObject(id) {
			seen[id] = true
			objs = append(objs, newObject{id, plumbing.BlobObject, func() (io.ReadCloser, int64, error) { return open(id) }})
		}
	}
	return w.repo.makeCommit(ctx, o, base, e, objs, s)
}

// makeCommit applies edits to the parent's tree and puts the commit into the
// mirror with the blobs that it needs. A zero parent makes a first commit.
func (r *Repo) makeCommit(
	ctx context.Context, o *packedObjects, parent plumbing.Hash, e treeEdits, blobs []newObject, s CommitSpec,
) (string, error) {
	var parents []plumbing.Hash
	var base plumbing.Hash
	if !parent.IsZero() {
		c, err := o.readCommit(parent)
		if err != nil {
			return "", err
		}
		parents, base = []plumbing.Hash{parent}, c.TreeHash
	}
	objs := slices.Clone(blobs)
	seen := map[plumbing.Hash]bool{}
	tree, err := o.editTree(base, e, func(id plumbing.Hash, b []byte) {
		if !seen[id] {
			seen[id] = true
			objs = append(objs, inMemory(id, plumbing.TreeObject, b))
		}
	})
	if err != nil {
		return "", err
	}
	if tree == base || base.IsZero() && !e.sets() {
		return "", ErrEmpty
	}
	b, id, err := s.encode(tree, parents)
	if err != nil {
		return "", err
	}
	if o.from.isMarked("made", id) {
		return id.String(), nil
	}
	objs = append(objs, inMemory(id, plumbing.CommitObject, b))
	x, err := r.packNew(objs)
	if err != nil {
		return "", err
	}
	defer x.remove()
	return id.String(), r.installPack(ctx, x, "made", id, nil)
}

// packNew writes objects to a pack beside the mirrors.
func (r *Repo) packNew(objs []newObject) (x indexedPack, err error) {
	dir := r.cache.tmp()
	f, err := os.CreateTemp(dir, "made-*.pack")
	if err != nil {
		return x, fmt.Errorf("write pack: %w", err)
	}
	x.base, x.count = strings.TrimSuffix(f.Name(), ".pack"), len(objs)
	defer func() {
		if err != nil {
			x.remove()
		}
	}()
	w, sum, err := writePack(f, objs)
	if err = errors.Join(err, f.Sync(), f.Chmod(0o444), f.Close()); err != nil {
		return x, fmt.Errorf("write pack: %w", err)
	}
	if err := w.idx.OnFooter(sum); err != nil {
		return x, fmt.Errorf("index pack: %w", err)
	}
	x.checksum = sum
	return x, writeIndex(x.base+".idx", &w.idx)
}

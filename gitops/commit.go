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

func inMemory(kind plumbing.ObjectType, b []byte) newObject {
	return newObject{objectID(kind, b), kind, func() (io.ReadCloser, int64, error) {
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
		d, err = makeDiff(ctx, changes, o.openToCompare, workFiles(root, changes))
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

// Commit commits everything in the work tree, as Diff shows it, on top of Base or of the
// parents that the spec names, which are fetched when the mirror lacks them. It is
// [ErrEmpty] when nothing changed and no parents are named. The commit is in the mirror, so
// that it can be pushed when the workspace is gone.
func (w *Workspace) Commit(ctx context.Context, s CommitSpec) (sha string, err error) {
	for try := 1; ; try++ {
		needed := append([]string{w.Base()}, s.Parents...)
		err = w.repo.viewCommits(ctx, "commit", needed, func(o *packedObjects, at []plumbing.Hash) error {
			sha, err = w.commitOnce(ctx, o, at[0], s)
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
	var blobs []newObject
	for _, c := range changes {
		e[c.path] = c.new
		if id := c.new.id; c.new.mode != filemode.Empty {
			blobs = append(blobs, newObject{id, plumbing.BlobObject, func() (io.ReadCloser, int64, error) { return open(id) }})
		}
	}
	return w.repo.mirror.makeCommit(ctx, o, base, e, blobs, s)
}

// makeCommit applies edits, with the blobs that they need, to the tree of base and puts
// the commit into the mirror. A zero base makes a first commit.
//
// The commit's pack holds all that its parents lack. So they and the pack are the commit,
// whatever else the mirror holds now and has lost later.
func (m *mirror) makeCommit(
	ctx context.Context, o *packedObjects, base plumbing.Hash, e treeEdits, blobs []newObject, s CommitSpec,
) (string, error) {
	var from plumbing.Hash
	var parents []plumbing.Hash
	if !base.IsZero() {
		c, err := o.readCommit(base)
		if err != nil {
			return "", err
		}
		from, parents = c.TreeHash, []plumbing.Hash{base}
	}
	if len(s.Parents) > 0 {
		given, err := parseSHAs(s.Parents)
		if err != nil {
			return "", err
		}
		parents = nil
		for _, p := range given { // one named twice is one, as in git
			if !slices.Contains(parents, p) {
				parents = append(parents, p)
			}
		}
	}
	made := map[plumbing.Hash]newObject{}
	for _, b := range blobs {
		made[b.id] = b
	}
	trees := map[plumbing.Hash][]byte{}
	tree, err := o.editTree(from, e, func(id plumbing.Hash, b []byte) {
		trees[id] = b
		made[id] = inMemory(plumbing.TreeObject, b)
	})
	if err != nil {
		return "", err
	}
	if len(s.Parents) == 0 && (tree == from || from.IsZero() && !e.sets()) {
		return "", ErrEmpty
	}
	commit, err := s.encode(tree, parents)
	if err != nil {
		return "", err
	}
	id := commit.id
	if o.from.isMarked("made", id) {
		return id.String(), nil
	}
	others, err := o.treesOf(parents)
	if err != nil {
		return "", err
	}
	objs := []newObject{commit}
	err = newMissingObjects(others, func(h plumbing.Hash) ([]treeEntry, error) {
		if b, ok := trees[h]; ok {
			return parseTree(b)
		}
		return o.readTree(h)
	}).find(tree, func(h plumbing.Hash, kind plumbing.ObjectType) {
		obj, ok := made[h]
		if !ok || o.hasObject(h) {
			obj = o.packable(h, kind)
		}
		objs = append(objs, obj)
	})
	if err != nil {
		return "", err
	}
	x, err := packNew(ctx, m.cache.tmp(), objs)
	if err != nil {
		return "", err
	}
	defer x.remove()
	return id.String(), m.install(ctx, x, "made", nil, id)
}

// packNew writes objects to a pack in a folder outside the mirrors.
func packNew(ctx context.Context, dir string, objs []newObject) (x indexedPack, err error) {
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
	w, sum, err := writePack(&countedWriter{ctx: ctx, out: f}, objs)
	if err = errors.Join(err, f.Sync(), f.Chmod(0o444), f.Close()); err != nil {
		return x, fmt.Errorf("write pack: %w", err)
	}
	if err := w.idx.OnFooter(sum); err != nil {
		return x, fmt.Errorf("index pack: %w", err)
	}
	x.checksum = sum
	return x, writeIndex(x.base+".idx", &w.idx)
}

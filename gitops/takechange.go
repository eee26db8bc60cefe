package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/sia-bot/sia/sia/gitignore"
)

// Bounds of a change made by another machine, which is trusted less than this one.
const (
	maxTakenFiles   = 20_000 // changed
	maxTakenObjects = 60_000
	maxTakenBytes   = 1 << 30 // of all objects
)

// Reset restores the work tree to the state of the checkout.
func (w *Workspace) Reset(ctx context.Context) error { return w.create(ctx, w.Base()) }

// TakeChange applies a commit to the work tree, which must be unchanged since the checkout. The commit was made on top
// of Base by a machine that is trusted less than this one; pack holds, as whole objects, everything that Base lacks.
//
// An unacceptable change is [ErrTree] or [ErrTooLarge], and nothing of it is written: a pack with deltas, or larger
// than the bounds; more files than the bounds; a name that is invalid on some system, or .git; a symlink that leads out
// of the work tree or into .git; a submodule. Nothing of the pack is added to the mirror.
func (w *Workspace) TakeChange(ctx context.Context, sha string, pack []byte) error {
	want, err := parseSHA(sha)
	if err != nil {
		return fmt.Errorf("take a change: %w: %w", ErrTree, err)
	}
	x, err := unpack(ctx, w.repo.cache.tmp(), bytes.NewReader(pack), want,
		packLimits{whole: true, objects: maxTakenObjects, bytes: maxTakenBytes})
	var disk *fs.PathError
	switch {
	case err == nil:
	case errors.Is(err, ErrTooLarge), errors.As(err, &disk):
		return fmt.Errorf("take a change: %w", err)
	default:
		return fmt.Errorf("take a change: %w: %s", ErrTree, err.Error())
	}
	defer x.remove()
	return w.repo.viewCommit(ctx, "take a change", w.Base(), func(o *packedObjects, base plumbing.Hash) error {
		p, err := openPack(x.base, &baseCache{})
		if err != nil {
			return err
		}
		defer p.f.Close()
		both := &packedObjects{from: o.from, packs: append(append([]*packFile(nil), o.packs...), p)}
		changes, err := both.untrustedChanges(ctx, base, want)
		if err != nil {
			return notBroken(err)
		}
		return w.makeChanges(ctx, both, changes)
	})
}

// notBroken turns errBroken into an error of the change, as the mirror is not at fault.
func notBroken(err error) error {
	if errors.Is(err, errBroken) || errors.Is(err, errNoObject) {
		return fmt.Errorf("%w: %s", ErrTree, err.Error())
	}
	return err
}

// untrustedChanges lists the changes of a commit and checks each.
func (o *packedObjects) untrustedChanges(ctx context.Context, base, want plumbing.Hash) ([]treeChange, error) {
	c, err := o.readCommit(want)
	if err != nil {
		return nil, err
	}
	if len(c.ParentHashes) != 1 || c.ParentHashes[0] != base {
		return nil, fmt.Errorf("%w: the commit does not stand on %s", ErrTree, base)
	}
	if _, err := o.listTree(ctx, c.TreeHash); err != nil {
		return nil, err
	}
	from, err := o.readCommit(base)
	if err != nil {
		return nil, err
	}
	changes, err := o.compareTrees(ctx, from.TreeHash, c.TreeHash)
	if err != nil {
		return nil, err
	}
	changes = mergeChanges(changes)
	if len(changes) > maxTakenFiles {
		return nil, fmt.Errorf("%w: %d files are changed, and at most %d are taken", ErrTree, len(changes), maxTakenFiles)
	}
	for _, c := range changes {
		if err := o.checkUntrusted(c); err != nil {
			return nil, fmt.Errorf("%s: %w", cleanText(c.path, 200), err)
		}
	}
	return changes, nil
}

// checkUntrusted returns an error for an unacceptable change.
func (o *packedObjects) checkUntrusted(c treeChange) error {
	for name := range strings.SplitSeq(c.path, "/") {
		if !safeName(name) || c.old.mode == filemode.Empty && !portableName(name) {
			return fmt.Errorf("%w: the name is not allowed", ErrTree)
		}
	}
	switch c.new.mode {
	case filemode.Submodule:
		return fmt.Errorf("%w: a submodule is changed", ErrTree)
	case filemode.Empty:
		if c.old.mode == filemode.Submodule {
			return fmt.Errorf("%w: a submodule is changed", ErrTree)
		}
	case filemode.Symlink:
		b, err := o.readObject(c.new.id, plumbing.BlobObject)
		if err != nil {
			return err
		}
		if !staysInside(path.Dir(c.path), string(b)) {
			return fmt.Errorf("%w: the symlink leads out of the work tree", ErrTree)
		}
	}
	return nil
}

// staysInside reports whether a symlink in the folder dir leads to a place in the work tree, and not into .git.
func staysInside(dir, target string) bool {
	if target == "" || len(target) > maxLink || strings.ContainsAny(target, "\x00\\") || path.IsAbs(target) {
		return false
	}
	at := dir
	for name := range strings.SplitSeq(target, "/") { // step by step: a folder on the way may itself be a symlink
		if at = path.Join(at, name); at == ".." || strings.HasPrefix(at, "../") || gitignore.IsDotGit(name) {
			return false
		}
	}
	return true
}

// makeChanges changes the files of the work tree: removals first, then additions.
func (w *Workspace) makeChanges(ctx context.Context, o *packedObjects, changes []treeChange) error {
	root, err := w.open()
	if err != nil {
		return err
	}
	defer root.Close()
	for _, c := range changes {
		if c.old.mode == filemode.Empty {
			continue
		}
		name := filepath.FromSlash(c.path)
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for dir := filepath.Dir(name); dir != "." && root.Remove(dir) == nil; dir = filepath.Dir(dir) {
		}
	}
	for _, c := range changes {
		if c.new.mode == filemode.Empty {
			continue
		}
		if err := root.MkdirAll(filepath.FromSlash(path.Dir(c.path)), 0o755); err != nil {
			return err
		}
		if _, err := o.writeFile(ctx, root, treeFile{c.path, c.new}); err != nil {
			return notBroken(err)
		}
	}
	return nil
}

// Pack packs a commit made in the workspace, for [Workspace.TakeChange] elsewhere; nil if it is larger than most.
func (w *Workspace) Pack(ctx context.Context, sha string, most int) ([]byte, error) {
	made, err := w.repo.PackMade(ctx, sha, most, w.Base())
	if err != nil {
		return nil, err
	}
	if len(made) != 1 || made[0].SHA != sha {
		return nil, fmt.Errorf("pack commit %s: it was not made of this workspace", cleanText(sha, 40))
	}
	return made[0].Pack, nil
}

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// maxDepth is the maximum nesting of folders that a command leaves behind, so that later programs need not handle
// deeper ones. Package managers stay far below it.
const maxDepth = 200

// walkChunk is the number of names read at once, so that a folder of a million files needs little memory.
const walkChunk = 512

// walkedEntry is an entry of an open folder, visited by a walk.
type walkedEntry struct {
	dir   int // descriptor of the folder
	name  string
	depth int // of the folder; 0: the tree itself
	stat  unix.Stat_t
}

func (e walkedEntry) isDir() bool { return e.stat.Mode&unix.S_IFMT == unix.S_IFDIR }

// errSkip makes the walk skip a folder.
var errSkip = errors.New("skip")

// treeWalk walks a tree with untrusted content. It opens each folder relative to its parent and never by path, so that
// depth costs nothing and no link is followed.
type treeWalk struct {
	ctx    context.Context
	visit  func(walkedEntry) error // errSkip: skip this folder; other errors end the walk
	hidden func(error)             // called for entries that can't be read; may be nil
}

// walkTree visits the entries of a tree, but not the tree itself.
func walkTree(ctx context.Context, tree string, visit func(walkedEntry) error, hidden func(error)) error {
	fd, err := unix.Open(tree, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", tree, err)
	}
	w := treeWalk{ctx: ctx, visit: visit, hidden: hidden}
	return w.walkFolder(os.NewFile(uintptr(fd), tree), 0)
}

// walkFolder walks an open folder and closes it.
func (w *treeWalk) walkFolder(dir *os.File, depth int) error {
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(walkChunk)
		for _, name := range names {
			if w.ctx.Err() != nil {
				return context.Cause(w.ctx)
			}
			if err := w.walkEntry(int(dir.Fd()), name, depth); err != nil {
				return err
			}
		}
		if err != nil || len(names) == 0 { // the end, or it was removed
			return nil
		}
	}
}

func (w *treeWalk) walkEntry(dir int, name string, depth int) error {
	e := walkedEntry{dir: dir, name: name, depth: depth}
	if err := unix.Fstatat(dir, name, &e.stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		w.report(err)
		return nil
	}
	if err := w.visit(e); err != nil {
		if errors.Is(err, errSkip) {
			return nil
		}
		return err
	}
	if !e.isDir() {
		return nil
	}
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		w.report(err)
		return nil
	}
	return w.walkFolder(os.NewFile(uintptr(fd), name), depth+1)
}

// report reports an entry that can't be read, unless it was removed.
func (w *treeWalk) report(err error) {
	if w.hidden != nil && !errors.Is(err, fs.ErrNotExist) {
		w.hidden(err)
	}
}

// RemoveAll removes a file, or a tree that commands wrote. Folders in it may lack permissions, and be nested to any
// depth. Links are removed, never followed.
func RemoveAll(dir string) error { return removeTree(context.Background(), dir) }

func removeTree(ctx context.Context, dir string) error {
	fd, err := unix.Open(filepath.Dir(dir), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(fd)
		if err = unix.Unlinkat(fd, filepath.Base(dir), 0); errors.Is(err, unix.EISDIR) {
			err = removeFolder(ctx, fd, filepath.Base(dir))
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", filepath.Base(dir), err)
	}
	return nil
}

// folderRemover removes folders of any depth with their content. It moves each subfolder next to its parent, so that at
// most two are open. Folders may lack permissions; no command may run in them.
type folderRemover struct {
	ctx    context.Context
	parent int // descriptor of the folder that contains them
	moved  int // number of moved folders
}

// removeFolder removes the folder name in the folder parent.
func removeFolder(ctx context.Context, parent int, name string) error {
	r := folderRemover{ctx: ctx, parent: parent}
	for all := []string{name}; len(all) > 0; {
		last := all[len(all)-1]
		inner, err := r.removeOne(last)
		if err != nil {
			return fmt.Errorf("remove folders: %w", err)
		}
		all = append(all[:len(all)-1], inner...)
	}
	return nil
}

// removeOne removes one folder. It moves its subfolders to the parent, and returns their new names.
func (r *folderRemover) removeOne(name string) (inner []string, err error) {
	grantOwner(r.parent, name) // if this fails, the next call returns the error
	fd, err := unix.Openat(r.parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	dir := os.NewFile(uintptr(fd), name)
	defer dir.Close()
	for {
		names, end := dir.Readdirnames(walkChunk)
		for _, entry := range names {
			if r.ctx.Err() != nil {
				return nil, context.Cause(r.ctx)
			}
			err := unix.Unlinkat(fd, entry, 0)
			if errors.Is(err, unix.EISDIR) {
				var beside string
				if beside, err = r.moveUp(fd, entry); err == nil {
					inner = append(inner, beside)
				}
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
		if end != nil || len(names) == 0 {
			return inner, unix.Unlinkat(r.parent, name, unix.AT_REMOVEDIR)
		}
	}
}

// moveUp moves a folder to an unused name in r.parent.
func (r *folderRemover) moveUp(dir int, name string) (beside string, err error) {
	grantOwner(dir, name) // moving requires write permission
	for {
		beside = fmt.Sprintf(".removed-%d", r.moved)
		r.moved++
		err = unix.Renameat2(dir, name, r.parent, beside, unix.RENAME_NOREPLACE)
		if !errors.Is(err, fs.ErrExist) {
			return beside, err
		}
	}
}

// grantOwner gives the owner of a folder all permissions.
func grantOwner(dir int, name string) {
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&0o700 != 0o700 {
		_ = unix.Fchmodat(dir, name, 0o700, 0)
	}
}

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

// maxDepth bounds how deep folders may be nested in what a command may write, so that
// nobody after it meets deeper ones. No package manager comes near it.
const maxDepth = 200

// walkChunk is how many names of a folder are read at a time: a folder of a million
// files needs no memory.
const walkChunk = 512

// walkedEntry is what a walk met: a name in a folder that is open.
type walkedEntry struct {
	dir   int // descriptor of the folder
	name  string
	depth int // of the folder; 0: the tree's own
	stat  unix.Stat_t
}

func (e walkedEntry) isDir() bool { return e.stat.Mode&unix.S_IFMT == unix.S_IFDIR }

// errSkip says not to go into a folder.
var errSkip = errors.New("skip")

// treeWalk goes through a tree that strangers wrote. Each folder is opened from the one
// around it and never by its path, so that depth costs nothing and no link is followed.
type treeWalk struct {
	ctx    context.Context
	visit  func(walkedEntry) error // errSkip: not into this folder; another error ends the walk
	hidden func(error)             // gets a folder that can't be read; may be nil
}

// walkTree walks what is in a tree. The tree itself is not visited.
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
		if err != nil || len(names) == 0 { // its end, or it was removed meanwhile
			return nil
		}
	}
}

func (w *treeWalk) walkEntry(dir int, name string, depth int) error {
	e := walkedEntry{dir: dir, name: name, depth: depth}
	if err := unix.Fstatat(dir, name, &e.stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		w.tell(err)
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
		w.tell(err)
		return nil
	}
	return w.walkFolder(os.NewFile(uintptr(fd), name), depth+1)
}

// tell tells of what can't be looked at. What is gone needs no look.
func (w *treeWalk) tell(err error) {
	if w.hidden != nil && !errors.Is(err, fs.ErrNotExist) {
		w.hidden(err)
	}
}

// RemoveAll removes a tree that commands wrote, or a file. Folders in it may lack permissions, and be nested as deep as
// they like. Links are removed, never followed.
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

// folderRemover removes folders with everything in them, however deep: it takes each
// folder out of the one around it, so that two are open at most. What is in them may lack
// permissions; nothing may run in them.
type folderRemover struct {
	ctx    context.Context
	parent int // descriptor of the folder that holds them
	moved  int // folders that were taken out
}

// removeFolder removes the folder name of the folder parent.
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

// removeOne removes one folder, and returns the names that the folders in it have now,
// beside it.
func (r *folderRemover) removeOne(name string) (inner []string, err error) {
	openFolder(r.parent, name) // what can't be opened then, the next line tells
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
				if beside, err = r.takeOut(fd, entry); err == nil {
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

// takeOut moves a folder to a free name in r.parent.
func (r *folderRemover) takeOut(dir int, name string) (beside string, err error) {
	openFolder(dir, name) // only who may write a folder can move it
	for {
		beside = fmt.Sprintf(".removed-%d", r.moved)
		r.moved++
		err = unix.Renameat2(dir, name, r.parent, beside, unix.RENAME_NOREPLACE)
		if !errors.Is(err, fs.ErrExist) {
			return beside, err
		}
	}
}

// openFolder gives a folder's owner every right in it.
func openFolder(dir int, name string) {
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&0o700 != 0o700 {
		_ = unix.Fchmodat(dir, name, 0o700, 0)
	}
}

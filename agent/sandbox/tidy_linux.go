package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of tidying up after a command.
const (
	tidyAtMost = time.Minute
	tidyWithin = 10 * time.Second // once the time of whoever runs the command is over
	// discardWithin bounds how long what is discarded is removed. The rest of it stays where nobody meets it.
	discardWithin = 5 * time.Second
)

var errUntidy = errors.New("there is too much to look through")

// handOver gives the command's user what the command may write: when SIA is root,
// commands run as another user. Only the owners of entries change. Links are not
// followed. .git is handed over too, so that git does not complain of a stranger's
// repository.
func handOver(ctx context.Context, c Command) error {
	for _, tree := range c.writable() {
		err := errors.Join(os.Lchown(tree, outsideUID, outsideUID), walkTree(ctx, tree, func(e walkedEntry) error {
			if e.stat.Uid != outsideUID || e.stat.Gid != outsideUID {
				err := unix.Fchownat(e.dir, e.name, outsideUID, outsideUID, unix.AT_SYMLINK_NOFOLLOW)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
			if e.isDir() && e.depth >= maxDepth {
				return errSkip // it is removed after the command
			}
			return nil
		}, nil))
		if err != nil {
			return fmt.Errorf("hand the work tree over: %w", err)
		}
	}
	return nil
}

// tidyUp brings what a command could write into a state that SIA and the next command can
// work with, and measures it. Nothing runs in the trees meanwhile, and links are not
// followed.
//
//   - SIA may look into every folder and file, when it is not root. Otherwise each command could
//     hide as much in a closed folder as one may use, and a closed file kept the work tree from being committed.
//   - No file gives the rights of its owner or group to who runs it on this host.
//   - No folder is nested deeper than maxDepth: what is deeper is removed.
//
// Where that is not done in time, or can't be done, all of it is discarded, and the error is [ErrDiscarded].
func tidyUp(ctx context.Context, c Command) (treeSize, error) {
	ctx, cancel := withTimeToTidy(ctx)
	defer cancel()
	return tidyTrees(ctx, c)
}

func tidyTrees(ctx context.Context, c Command) (m treeSize, err error) {
	defer func() {
		if err != nil {
			err = discard(c.writable(), err)
		}
	}()
	for _, tree := range c.writable() {
		st, err := os.Stat(tree)
		if err == nil && (st.Mode().Perm()&0o700 != 0o700 || st.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0) {
			err = os.Chmod(tree, st.Mode().Perm()|0o700)
		}
		if err == nil {
			err = walkTree(ctx, tree, func(e walkedEntry) error { return m.tidyEntry(ctx, e) }, m.addHidden)
		}
		if err != nil {
			return m, fmt.Errorf("tidy up after the command: %w", err)
		}
	}
	return m, nil
}

// discard puts empty folders in the place of trees. What they held goes into folders that are closed to everybody
// else, where its set-user-ID bits lend nothing, and is removed from there.
func discard(trees []string, why error) error {
	err := fmt.Errorf("%w: %w", ErrDiscarded, why)
	ctx, cancel := context.WithTimeoutCause(context.Background(), discardWithin, errUntidy)
	defer cancel()
	var closed []string
	for _, tree := range trees {
		at, failed := os.MkdirTemp(filepath.Dir(tree), ".discarded-*") // for its owner alone
		if failed == nil {
			closed = append(closed, at)
			if failed = os.Rename(tree, filepath.Join(at, "tree")); failed == nil {
				failed = os.Mkdir(tree, 0o700)
			}
		}
		if failed != nil {
			err = errors.Join(err, failed, os.Chmod(tree, 0)) // nobody else gets in, at least
		}
	}
	for _, at := range closed {
		_ = removeTree(ctx, at) // the rest is removed with what is around it
	}
	return err
}

// withTimeToTidy is a context that may outlive ctx for tidyWithin.
func withTimeToTidy(ctx context.Context) (context.Context, context.CancelFunc) {
	late, end := context.WithCancelCause(context.WithoutCancel(ctx))
	late, cancel := context.WithTimeoutCause(late, tidyAtMost, errUntidy)
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(tidyWithin):
			end(errUntidy)
		case <-late.Done():
		}
	})
	return late, func() { stop(); cancel(); end(nil) }
}

// treeSize is what a walk over trees counted.
type treeSize struct {
	bytes  int64 // holes in files take up nothing
	files  int
	deep   bool // there are folders nested deeper than maxDepth
	hidden bool // something could not be looked at
}

func (m *treeSize) addEntry(e walkedEntry) {
	m.files++
	m.bytes += e.stat.Blocks * 512
	m.deep = m.deep || e.isDir() && e.depth >= maxDepth
}

func (m *treeSize) addHidden(error) { m.hidden = true }

func (m *treeSize) tidyEntry(ctx context.Context, e walkedEntry) error {
	m.addEntry(e)
	switch mode := e.stat.Mode & unix.S_IFMT; {
	case e.isDir() && e.depth >= maxDepth:
		if err := removeFolder(ctx, e.dir, e.name); err != nil {
			return err
		}
		return errSkip
	case mode == unix.S_IFDIR && e.stat.Mode&0o500 != 0o500:
		_ = unix.Fchmodat(e.dir, e.name, e.stat.Mode&0o777|0o700, 0) // somebody else's stays closed, and counts as hidden
	case (mode == unix.S_IFREG || mode == unix.S_IFDIR) && e.stat.Mode&(unix.S_ISUID|unix.S_ISGID) != 0:
		return unix.Fchmodat(e.dir, e.name, e.stat.Mode&0o777, 0)
	case mode == unix.S_IFREG && e.stat.Mode&0o400 == 0:
		_ = unix.Fchmodat(e.dir, e.name, e.stat.Mode&0o777|0o600, 0) // somebody else's stays closed
	}
	return nil
}

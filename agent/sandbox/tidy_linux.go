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

// Limits of tidying up after a command.
const (
	tidyTimeout = time.Minute
	tidyGrace   = 10 * time.Second // after the caller's context has ended
	// discardTimeout limits the removal of discarded trees. The rest stays in a folder that only the owner can access.
	discardTimeout = 5 * time.Second
)

var errUntidy = errors.New("there is too much to look through")

// chownWritable makes the command's user the owner of the writable folders: if SIA is root, commands run as another
// user. It changes only ownership and follows no links. It includes .git, so that git does not report a foreign owner.
func chownWritable(ctx context.Context, c Command) error {
	for _, tree := range c.writable() {
		err := errors.Join(os.Lchown(tree, hostUID, hostUID), walkTree(ctx, tree, func(e walkedEntry) error {
			if e.stat.Uid != hostUID || e.stat.Gid != hostUID {
				err := unix.Fchownat(e.dir, e.name, hostUID, hostUID, unix.AT_SYMLINK_NOFOLLOW)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
			if e.isDir() && e.depth >= maxDepth {
				return errSkip // removed after the command
			}
			return nil
		}, nil))
		if err != nil {
			return fmt.Errorf("hand the work tree over: %w", err)
		}
	}
	return nil
}

// tidyUp makes the folders that a command could write safe for SIA and the next command, and measures them. No command
// may run in them at the same time. It follows no links.
//
//   - SIA can read every folder and file, even if it is not root. Otherwise a command could hide as much data in an
//     unreadable folder as the limit allows, and an unreadable file would prevent a commit.
//   - No file has a set-user-ID or set-group-ID bit.
//   - No folder is nested deeper than maxDepth; deeper ones are removed.
//
// If that fails or takes too long, the folders are discarded, and the error is [ErrDiscarded].
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

// discard replaces trees by empty folders. It moves them into folders that only the owner can access, where set-user-ID
// bits are harmless, and removes them there.
func discard(trees []string, why error) error {
	err := fmt.Errorf("%w: %w", ErrDiscarded, why)
	ctx, cancel := context.WithTimeoutCause(context.Background(), discardTimeout, errUntidy)
	defer cancel()
	var closed []string
	for _, tree := range trees {
		at, failed := os.MkdirTemp(filepath.Dir(tree), ".discarded-*") // accessible only to its owner
		if failed == nil {
			closed = append(closed, at)
			if failed = os.Rename(tree, filepath.Join(at, "tree")); failed == nil {
				failed = os.Mkdir(tree, 0o700)
			}
		}
		if failed != nil {
			err = errors.Join(err, failed, os.Chmod(tree, 0)) // at least deny access to others
		}
	}
	for _, at := range closed {
		_ = removeTree(ctx, at) // the rest is removed with the parent folder
	}
	return err
}

// withTimeToTidy returns a context that outlives ctx by up to tidyGrace.
func withTimeToTidy(ctx context.Context) (context.Context, context.CancelFunc) {
	late, end := context.WithCancelCause(context.WithoutCancel(ctx))
	late, cancel := context.WithTimeoutCause(late, tidyTimeout, errUntidy)
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(tidyGrace):
			end(errUntidy)
		case <-late.Done():
		}
	})
	return late, func() { stop(); cancel(); end(nil) }
}

// treeSize is the result of walking trees.
type treeSize struct {
	bytes  int64 // allocated; holes in files don't count
	files  int
	deep   bool // folders are nested deeper than maxDepth
	hidden bool // something could not be read
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
		_ = unix.Fchmodat(e.dir, e.name, e.stat.Mode&0o777|0o700, 0) // fails for other owners: then it is hidden
	case (mode == unix.S_IFREG || mode == unix.S_IFDIR) && e.stat.Mode&(unix.S_ISUID|unix.S_ISGID) != 0:
		return unix.Fchmodat(e.dir, e.name, e.stat.Mode&0o777, 0)
	case mode == unix.S_IFREG && e.stat.Mode&0o400 == 0:
		_ = unix.Fchmodat(e.dir, e.name, e.stat.Mode&0o777|0o600, 0) // fails for other owners
	}
	return nil
}

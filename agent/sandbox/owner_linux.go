package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// handOver gives the command's user what the command may write: when SIA is root,
// commands run as another user. Only the owners of entries change. Links are not
// followed. .git is handed over too, so that git does not complain of a stranger's
// repository.
func handOver(c Command) error {
	for _, tree := range c.writable() {
		root, err := os.OpenRoot(tree)
		if err != nil {
			return fmt.Errorf("hand the work tree over: %w", err)
		}
		err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
			if err == nil {
				err = handOverEntry(root, p, d)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		})
		if err = errors.Join(err, root.Close()); err != nil {
			return fmt.Errorf("hand the work tree over: %w", err)
		}
	}
	return nil
}

// openUp lets SIA, when it is not root, look into every folder that a command could
// write. Otherwise each command could hide as much in a closed folder as one may use.
// Nothing runs in the trees meanwhile, and links are not followed.
func openUp(c Command) error {
	for _, tree := range c.writable() {
		root, err := os.OpenRoot(tree)
		if err != nil {
			return fmt.Errorf("look into the work tree: %w", err)
		}
		err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil { // somebody else's, and there before
				return fs.SkipDir
			}
			if !d.IsDir() {
				return nil
			}
			if info, err := d.Info(); err == nil && info.Mode()&0o500 != 0o500 {
				_ = root.Chmod(filepath.FromSlash(p), info.Mode().Perm()|0o700)
			}
			return nil
		})
		if err = errors.Join(err, root.Close()); err != nil {
			return fmt.Errorf("look into the work tree: %w", err)
		}
	}
	return nil
}

func handOverEntry(root *os.Root, p string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == outsideUID && st.Gid == outsideUID {
		return nil
	}
	return root.Lchown(filepath.FromSlash(p), outsideUID, outsideUID)
}

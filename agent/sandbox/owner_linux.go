package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// handOver makes what the command may write the command's: as root, SIA runs
// commands as another user. Only the owners of entries change, links are not
// followed, and what is that user's already is left alone. The protected paths
// are handed over too, so that git does not complain of a stranger's repository.
func handOver(c Command) error {
	for _, tree := range c.writable() {
		root, err := os.OpenRoot(tree)
		if err != nil {
			return fmt.Errorf("hand the work tree over: %w", err)
		}
		err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
			if err == nil {
				err = give(root, p, d)
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

// openUp makes every folder that a command could write one that SIA can look into,
// when SIA is no root: what a command closed would else count against nobody, and
// each could hide as much as one may use. Nothing runs in the trees meanwhile,
// and links are not followed.
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

func give(root *os.Root, p string, d fs.DirEntry) error {
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

package gitops

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// copyFile copies a file that did not exist at dst. Where the file system can
// share blocks, it does.
func copyFile(src, dst string) (err error) {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := out.Close(); err == nil {
			err = cerr
		}
	}()
	_, err = io.Copy(out, in)
	return err
}

// removeTree removes a tree even when a program closed folders in it, as Go's module
// cache does, or nested them deeper than can be open at a time. Links are removed, never
// followed.
func removeTree(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer root.Close()
	moved := 0
	for all := []string{filepath.Base(dir)}; len(all) > 0; {
		last := all[len(all)-1]
		inner, err := emptyFolder(root, last, &moved)
		if err != nil {
			return fmt.Errorf("remove folders: %w", err)
		}
		all = append(all[:len(all)-1], inner...)
	}
	return nil
}

// emptyFolder removes what is at name. The folders in it it moves beside it, to the names
// that it returns; moved counts them.
func emptyFolder(root *os.Root, name string, moved *int) (inner []string, err error) {
	st, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, root.Remove(name)
	}
	if err := root.Chmod(name, 0o700); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(root.FS(), name)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		at := path.Join(name, e.Name())
		if !e.IsDir() {
			if err := root.Remove(at); err != nil {
				return nil, err
			}
			continue
		}
		beside := freeName(root, moved)
		if err := errors.Join(root.Chmod(at, 0o700), root.Rename(at, beside)); err != nil { // only an open one moves
			return nil, err
		}
		inner = append(inner, beside)
	}
	return inner, root.Remove(name)
}

// freeName is a name that nothing has in a folder.
func freeName(root *os.Root, used *int) string {
	for {
		name := fmt.Sprintf(".removed-%d", *used)
		*used++
		if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
}

// syncDir makes renames in a folder survive a power cut, where that is possible.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

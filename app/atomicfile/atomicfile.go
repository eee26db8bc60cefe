// Package atomicfile writes files that are there whole or not at all.
//
// A file is written under another name beside its place, brought to the disk, and only then given its
// name; then the folder is brought to the disk, too. Whoever opens the name, whenever that is, finds
// all of the old content or all of the new. When a call has returned without an error, the new content
// outlives a loss of power, as far as the disk keeps what it says that it has written. When the process
// or the machine stops before that, the name has the old content or the new, and a file with a name
// that begins with “.sia-new-” may be left behind.
//
// The permissions of a new file are those that are asked for, less what the umask takes, as with
// [os.WriteFile]; those of a file that is replaced don't count. A symbolic link in the place of a file
// is replaced, and not followed. Folders have to be there.
//
// It imports nothing of ours.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
)

// Replace writes a file, in the place of what has its name.
func Replace(path string, content []byte, mode fs.FileMode) error {
	d, err := Begin(path, mode)
	if err != nil {
		return err
	}
	return d.Replace(content)
}

// Create writes a file unless something has its name: then it is an [fs.ErrExist], and what is there
// stays as it is. Of several who create it at once, one succeeds.
func Create(path string, content []byte, mode fs.FileMode) error {
	d, err := Begin(path, mode)
	if err != nil {
		return err
	}
	return d.Create(content)
}

// CreateIn is Create of a name below a root, which no symbolic link leads out of.
func CreateIn(root *os.Root, name string, content []byte, mode fs.FileMode) error {
	dir, err := root.OpenRoot(path.Dir(name))
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	d, err := begin(dir, name, path.Base(name), mode)
	if err != nil {
		return err
	}
	return d.Create(content)
}

// Draft is a file in the making, beside where it is going to be. One of its methods ends it; a Discard
// after that does nothing.
type Draft struct {
	dir        *os.Root
	file       *os.File
	path       string // for people
	name, temp string // in dir
}

// Begin makes a draft of a file, so that it is known that it can be written before what can't be undone
// is done.
func Begin(path string, mode fs.FileMode) (*Draft, error) {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return begin(dir, path, filepath.Base(path), mode)
}

// begin makes a draft, which closes dir.
func begin(dir *os.Root, path, name string, mode fs.FileMode) (*Draft, error) {
	d := &Draft{dir: dir, path: path, name: name, temp: ".sia-new-" + rand.Text()}
	var err error
	if d.file, err = dir.OpenFile(d.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode); err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", path, err), dir.Close())
	}
	return d, nil
}

// Replace is the function of that name.
func (d *Draft) Replace(content []byte) error {
	return d.finish(content, func() error { return d.dir.Rename(d.temp, d.name) })
}

// Create is the function of that name. On a disk that has no links, of several who create a file at
// the same moment more than one may succeed; what the last of them wrote stays.
func (d *Draft) Create(content []byte) error {
	return d.finish(content, func() error {
		err := d.dir.Link(d.temp, d.name) // unlike a new name, it takes nobody's place
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
		if _, there := d.dir.Lstat(d.name); !errors.Is(there, fs.ErrNotExist) {
			return errors.Join(fs.ErrExist, there)
		}
		return d.dir.Rename(d.temp, d.name)
	})
}

// Discard takes away what was begun.
func (d *Draft) Discard() {
	_ = d.file.Close()       // it may be closed already
	_ = d.dir.Remove(d.temp) // or in its place, or its folder closed
	_ = d.dir.Close()        // or that was done before
}

// finish writes the content to the disk and puts the file in its place.
func (d *Draft) finish(content []byte, place func() error) error {
	defer d.Discard()
	_, err := d.file.Write(content)
	if err = errors.Join(err, d.file.Sync(), d.file.Close()); err == nil {
		err = place()
	}
	if err == nil {
		err = syncOpened(d.dir.Open("."))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", d.path, err)
	}
	return nil
}

// SyncFolder has the names in a folder outlive a loss of power: what was renamed, linked or removed
// there. On a file system that can't do that for a folder by itself, nothing is done.
func SyncFolder(dir string) error { return syncOpened(os.Open(dir)) }

func syncOpened(dir *os.File, err error) error {
	if err != nil {
		return err
	}
	err = dir.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = nil
	}
	return errors.Join(err, dir.Close())
}

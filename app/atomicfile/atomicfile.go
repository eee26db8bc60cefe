// Package atomicfile writes files atomically.
//
// A file is written to a temporary name in the same folder, synced to disk and renamed; then the folder is synced,
// too. A reader of the name always finds all of the old content or all of the new. If a call returns without an
// error, the new content survives a power loss, provided that the disk keeps what it reports as written. If the
// process or the machine stops earlier, the name has the old content or the new, and a file with a name that begins
// with “.sia-new-” may remain.
//
// The permissions of a new file are the given ones without the umask, as with [os.WriteFile]; those of a replaced
// file don't matter. A symbolic link is replaced, not followed. Folders must exist.
//
// It imports no other package of the project.
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

// Replace writes a file, and replaces an existing one.
func Replace(path string, content []byte, mode fs.FileMode) error {
	d, err := Begin(path, mode)
	if err != nil {
		return err
	}
	return d.Replace(content)
}

// Create writes a file, or fails with [fs.ErrExist] if it exists. Of several concurrent calls, one succeeds.
func Create(path string, content []byte, mode fs.FileMode) error {
	d, err := Begin(path, mode)
	if err != nil {
		return err
	}
	return d.Create(content)
}

// CreateIn is Create for a name below a root. Symbolic links can't lead out of the root.
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

// Draft is an unfinished file in the folder of its final name. Any of its methods finishes it; a Discard after that
// does nothing.
type Draft struct {
	dir        *os.Root
	file       *os.File
	path       string // for errors
	name, temp string // in dir
}

// Begin creates a draft of a file, to find out whether the file can be written before an irreversible operation.
func Begin(path string, mode fs.FileMode) (*Draft, error) {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return begin(dir, path, filepath.Base(path), mode)
}

// begin creates a draft, which takes ownership of dir.
func begin(dir *os.Root, path, name string, mode fs.FileMode) (*Draft, error) {
	d := &Draft{dir: dir, path: path, name: name, temp: ".sia-new-" + rand.Text()}
	var err error
	if d.file, err = dir.OpenFile(d.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode); err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", path, err), dir.Close())
	}
	return d, nil
}

// Replace finishes the draft as the function [Replace] does.
func (d *Draft) Replace(content []byte) error {
	return d.finish(content, func() error { return d.dir.Rename(d.temp, d.name) })
}

// Create finishes the draft as the function [Create] does. On a file system without hard links, several concurrent
// calls may succeed; the content of the last one stays.
func (d *Draft) Create(content []byte) error {
	return d.finish(content, func() error {
		err := d.dir.Link(d.temp, d.name) // unlike a rename, it replaces nothing
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
		if _, statErr := d.dir.Lstat(d.name); !errors.Is(statErr, fs.ErrNotExist) {
			return errors.Join(fs.ErrExist, statErr)
		}
		return d.dir.Rename(d.temp, d.name)
	})
}

// Discard removes the draft.
func (d *Draft) Discard() {
	_ = d.file.Close()       // it may be closed already
	_ = d.dir.Remove(d.temp) // or renamed, or its folder closed
	_ = d.dir.Close()        // or closed already
}

// finish writes the content to disk and calls publish to give the file its name.
func (d *Draft) finish(content []byte, publish func() error) error {
	defer d.Discard()
	_, err := d.file.Write(content)
	if err = errors.Join(err, d.file.Sync(), d.file.Close()); err == nil {
		err = publish()
	}
	if err == nil {
		err = syncOpened(d.dir.Open("."))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", d.path, err)
	}
	return nil
}

// SyncFolder makes the names in a folder survive a power loss after renames, links and removals. It does nothing on a
// file system that can't sync a folder.
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

package improve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/sia-bot/sia/sia/improve"
)

// Limits of the copy of a project.
const (
	maxCopied       = 4 << 30 // bytes
	maxEntries      = 500_000
	maxNamedOmitted = 20 // named entries of those that could not be copied
)

// copyProject copies a project's folder: regular files, folders, and symbolic links as they are. It omits .git, which a
// self-test must not change and which can be large, and the results of earlier iterations. It also omits what can't be
// read, and returns it in left.
func copyProject(ctx context.Context, from, to string) (left []string, err error) {
	if err := os.Mkdir(to, 0o755); err != nil {
		return nil, fmt.Errorf("copy the project: %w", err)
	}
	dst, err := os.OpenRoot(to)
	if err != nil {
		return nil, fmt.Errorf("copy the project: %w", err)
	}
	defer dst.Close()
	c := projectCopy{from: from, to: dst}
	err = filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return c.entry(p, d, err)
	})
	if err != nil {
		return nil, fmt.Errorf("copy the project %s: %w", from, err)
	}
	if more := c.left - len(c.named); more > 0 {
		c.named = append(c.named, fmt.Sprintf("and %d more", more))
	}
	return c.named, nil
}

// projectCopy is the state of copying a project.
type projectCopy struct {
	from    string
	to      *os.Root
	bytes   int64
	entries int
	left    int
	named   []string
}

func (c *projectCopy) entry(p string, d fs.DirEntry, err error) error {
	name, relErr := filepath.Rel(c.from, p)
	switch {
	case relErr != nil:
		return relErr
	case name == ".":
		return err
	case err != nil:
		return c.omit(name, d, err)
	case d.Name() == ".git" || filepath.ToSlash(name) == placeFolder:
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if c.entries++; c.entries > maxEntries {
		return fmt.Errorf("it has more than %d files; run `sia improve` on a file of a smaller project", maxEntries)
	}
	switch {
	case d.IsDir():
		err = c.to.Mkdir(name, 0o755)
	case d.Type()&fs.ModeSymlink != 0:
		var target string
		if target, err = os.Readlink(p); err == nil {
			err = c.to.Symlink(target, name)
		}
	case d.Type().IsRegular():
		err = c.file(p, name)
	}
	if err == nil || errors.Is(err, errTooLarge) {
		return err
	}
	if unreadable(err) {
		return c.omit(name, d, err)
	}
	return err
}

var errTooLarge = fmt.Errorf("it has more than %d GiB; run `sia improve` on a file of a smaller project", maxCopied>>30)

// unreadable reports whether an error concerns the original rather than the copy.
func unreadable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) // removed meanwhile
}

// omit omits an entry.
func (c *projectCopy) omit(name string, d fs.DirEntry, err error) error {
	if c.left++; len(c.named) < maxNamedOmitted {
		c.named = append(c.named, fmt.Sprintf("%s (%v)", filepath.ToSlash(name), cause(err)))
	}
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func (c *projectCopy) file(p, name string) error {
	in, err := os.Open(p)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if c.bytes += info.Size(); c.bytes > maxCopied {
		return errTooLarge
	}
	out, err := c.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, maxCopied))
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return c.to.Chtimes(name, info.ModTime(), info.ModTime())
}

// copiedFiles accesses the files of a copy. Since a self-test may have modified it, links that lead outside the copy
// are not followed.
type copiedFiles struct{ root *os.Root }

// Read reads a file.
func (c *copiedFiles) Read(name string) (improve.File, error) {
	info, err := c.root.Stat(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrNotExist) {
		return improve.File{Absent: true}, nil
	}
	if err != nil {
		return improve.File{}, err
	}
	if !info.Mode().IsRegular() {
		return improve.File{}, fmt.Errorf("%s is no ordinary file", name)
	}
	f, err := c.root.Open(filepath.FromSlash(name))
	if err != nil {
		return improve.File{}, err
	}
	defer f.Close()
	return readText(f)
}

// Write writes or removes a file.
func (c *copiedFiles) Write(name string, f improve.File) error {
	at := filepath.FromSlash(name)
	if f.Absent {
		return c.root.RemoveAll(at)
	}
	mode := fs.FileMode(0o644)
	if info, err := c.root.Stat(at); err == nil {
		mode = info.Mode().Perm()
	}
	if err := c.root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o755); err != nil {
		return err
	}
	temp := at + ".sia-new"
	if err := c.root.WriteFile(temp, []byte(f.Text), mode); err != nil {
		return err
	}
	return c.root.Rename(temp, at)
}

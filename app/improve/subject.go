package improve

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia/improve"
)

// Subject is a file to improve, as it was read.
type Subject struct {
	Root   string // absolute: the folder of its repository, or the file's own folder if there is none
	Name   string // slash-separated, relative to Root
	Target string // absolute, with links resolved; the file to replace
	Link   bool   // the given path is a symbolic link to Target
	File   improve.File
}

// Find reads the file at a path, which need not exist yet. An error contains the reason why it can't be improved.
func Find(path string) (Subject, error) {
	target, err := resolvePath(path)
	if err != nil {
		return Subject{}, fmt.Errorf("find %s: %w", path, err)
	}
	s := Subject{Target: target}
	if info, err := os.Lstat(path); err == nil {
		s.Link = info.Mode()&fs.ModeSymlink != 0
	}
	if s.File, err = readFile(target); err != nil {
		return Subject{}, fmt.Errorf("read %s: %w", path, err)
	}
	s.Root = findProject(filepath.Dir(target))
	name, err := filepath.Rel(s.Root, target)
	if err != nil {
		return Subject{}, fmt.Errorf("find %s: %w", path, err)
	}
	s.Name = filepath.ToSlash(name)
	return s, nil
}

// resolvePath returns the absolute path of a file with links resolved. If the file does not exist, it resolves the
// existing parent folders.
func resolvePath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if info, err := os.Lstat(abs); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "", errors.New("it is a link to a file that is not there; make that file, or name it")
	}
	dir, err := resolvePath(filepath.Dir(abs))
	return filepath.Join(dir, filepath.Base(abs)), err
}

// readFile reads a text file of at most [improve.MaxFile] bytes.
func readFile(path string) (improve.File, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return improve.File{Absent: true}, nil
	case err != nil:
		return improve.File{}, cause(err)
	case info.IsDir():
		return improve.File{}, errors.New("it is a folder; name one of its files")
	case !info.Mode().IsRegular():
		return improve.File{}, fmt.Errorf("it is no ordinary file (%s)", info.Mode().Type())
	}
	f, err := os.Open(path)
	if err != nil {
		return improve.File{}, cause(err)
	}
	defer f.Close()
	return readText(f)
}

// readText reads text of at most [improve.MaxFile] bytes.
func readText(r io.Reader) (improve.File, error) {
	b, err := io.ReadAll(io.LimitReader(r, improve.MaxFile+1))
	switch {
	case err != nil:
		return improve.File{}, cause(err)
	case len(b) > improve.MaxFile:
		return improve.File{}, fmt.Errorf("it is too large: more than %d bytes", improve.MaxFile)
	case bytes.IndexByte(b, 0) >= 0:
		return improve.File{}, errors.New("it is no text: there is a NUL byte in it")
	case !utf8.Valid(b):
		return improve.File{}, errors.New("it is no UTF-8; convert it first")
	}
	return improve.File{Text: string(b)}, nil
}

// cause returns an error without the operation and path, which the caller adds.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// findProject returns the nearest parent folder that is a Git repository, or dir itself. It skips folders that do not
// exist yet.
func findProject(dir string) string {
	own := ""
	for at := dir; ; at = filepath.Dir(at) {
		if own == "" {
			if info, err := os.Stat(at); err == nil && info.IsDir() {
				own = at
			}
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if filepath.Dir(at) == at {
			return own
		}
	}
}

package tool

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/sia-bot/sia/sia/gitignore"
	"github.com/sia-bot/sia/sia/text"
)

// localPath validates a path from a model and returns it clean and slash-separated. It must be relative, in the work
// tree, and have no part named .git. "." is the work tree itself.
func localPath(p string) (string, error) {
	switch {
	case strings.TrimSpace(p) == "":
		return "", errors.New(`the path is empty; "." is the repository's root`)
	case strings.ContainsRune(p, 0):
		return "", errors.New("the path holds a NUL byte")
	case len(p) > 4096:
		return "", errors.New("the path is longer than 4096 bytes")
	case path.IsAbs(p) || filepath.IsAbs(p):
		return "", fmt.Errorf("path %s: only paths relative to the repository's root are allowed", quotePath(p))
	}
	// Clean would hide the climb in "a/../../b", so the original parts are checked.
	for part := range strings.SplitSeq(p, "/") {
		if part == ".." {
			return "", fmt.Errorf("path %s: .. is not allowed; name the path from the repository's root", quotePath(p))
		}
		if gitignore.IsDotGit(part) {
			return "", fmt.Errorf("path %s: .git is off limits; commits are made for you", quotePath(p))
		}
	}
	p = path.Clean(p)
	if strings.Count(p, "/") > maxDepth {
		return "", fmt.Errorf("path %s: folders may be nested %d deep and no deeper", quotePath(p), maxDepth)
	}
	if strings.Contains(p, `\`) {
		return "", fmt.Errorf("path %s: a name may not have a backslash, which leads into folders on other systems",
			quotePath(p))
	}
	if !filepath.IsLocal(filepath.FromSlash(p)) {
		return "", fmt.Errorf("path %s: it leads out of the repository", quotePath(p))
	}
	return p, nil
}

// lookUp returns the local path and the file info of a path from a model. An empty name is the work tree itself. Links
// are an error. op is the tool's name in errors.
func lookUp(root *os.Root, op, name string) (string, fs.FileInfo, error) {
	p, err := localPath(cmp.Or(name, "."))
	if err != nil {
		return "", nil, err
	}
	if err := noLinks(root, p); err != nil {
		return "", nil, err
	}
	st, err := root.Lstat(p)
	if err != nil {
		return "", nil, pathError(op, p, err)
	}
	return p, st, nil
}

// noLinks returns an error if any part of the path is a symbolic link. Missing parts are not links.
func noLinks(root *os.Root, p string) error {
	if p == "." {
		return nil
	}
	for i := 0; i <= len(p); i++ {
		if i < len(p) && p[i] != '/' {
			continue
		}
		st, err := root.Lstat(p[:i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return pathError("look at", p[:i], err)
		case st.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("path %s: %s is a symbolic link, which is not followed; name the file itself", quotePath(p),
				quotePath(p[:i]))
		}
	}
	return nil
}

// openRegular opens a regular file for reading. It checks for links before and after opening, to detect a link that was
// created in between. os.Root keeps the path in the work tree in any case.
func openRegular(root *os.Root, p string) (*os.File, fs.FileInfo, error) {
	if err := noLinks(root, p); err != nil {
		return nil, nil, err
	}
	f, err := root.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not block
	if err != nil {
		return nil, nil, pathError("read", p, err)
	}
	st, err := f.Stat()
	if err == nil {
		err = checkRegular(p, st)
	}
	if err == nil {
		err = noLinks(root, p)
	}
	if err == nil {
		var now fs.FileInfo
		if now, err = root.Lstat(p); err == nil && !os.SameFile(now, st) {
			err = fmt.Errorf("read %s: it changed while it was opened; try again", quotePath(p))
		}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, st, nil
}

// checkRegular returns an error unless it is a regular file.
func checkRegular(p string, st fs.FileInfo) error {
	switch {
	case st.IsDir():
		return fmt.Errorf("%s is a directory; use list to see what is in it", quotePath(p))
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", quotePath(p))
	}
	return nil
}

// readText reads a text file of at most MaxFile bytes.
func readText(root *os.Root, p string) ([]byte, fs.FileInfo, error) {
	f, st, err := openRegular(root, p)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	switch {
	case err != nil:
		return nil, nil, pathError("read", p, err)
	case len(b) > MaxFile:
		return nil, nil, fmt.Errorf("%s is larger than %d bytes, too large to edit", quotePath(p), MaxFile)
	case isBinary(b):
		return nil, nil, fmt.Errorf("%s is a binary file", quotePath(p))
	}
	return b, st, nil
}

// replaceFile replaces a file atomically, and creates its folders. Hard links to the old file keep the old content.
func replaceFile(root *os.Root, p string, text []byte, mode fs.FileMode) error {
	dir := path.Dir(p)
	if err := noLinks(root, p); err != nil {
		return err
	}
	if dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return pathError("write", p, err)
		}
	}
	temp := path.Join(dir, ".sia-write-"+strconv.Itoa(os.Getpid())+".tmp")
	if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return pathError("write", p, err)
	}
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm()|0o600)
	if err != nil {
		return pathError("write", p, err)
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = root.Rename(temp, p)
	}
	if err != nil {
		root.Remove(temp) //nolint:errcheck // the first error is the one to tell
		return pathError("write", p, err)
	}
	return nil
}

// isBinary reports whether b looks binary: it has a NUL byte near its start, which is git's rule.
func isBinary(b []byte) bool { return bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 }

// quotePath quotes a path for a message, cut to a readable length.
func quotePath(p string) string { return strconv.Quote(text.Clip(p, 200)) }

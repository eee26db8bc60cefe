package gitops

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// File is one file of a commit.
type File struct {
	Path string // slashes, relative to the repository's root
	Mode fs.FileMode
}

// Signature is the author of a commit, and the time.
type Signature struct {
	Name, Email string
	When        time.Time
}

// ReadFile returns a file of a commit, which is fetched when the mirror lacks it. It is [fs.ErrNotExist] when there is
// no such file and [ErrTooLarge] when it has more than limit bytes. The content of a symlink is its target's name.
func (r *Repo) ReadFile(ctx context.Context, sha, name string, limit int64) (content []byte, err error) {
	op := "read " + cleanText(name, 200)
	err = r.viewCommit(ctx, op, sha, func(o *packedObjects, h plumbing.Hash) error {
		c, err := o.readCommit(h)
		if err != nil {
			return err
		}
		content, err = o.readFile(c.TreeHash, name, limit)
		return err
	})
	return content, err
}

// readFile reads a file of a tree.
func (o *packedObjects) readFile(tree plumbing.Hash, name string, limit int64) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, fmt.Errorf("path %q: %w", cleanText(name, 200), fs.ErrInvalid)
	}
	e, err := newTreeFolders(o, tree).entry(name)
	if err != nil {
		return nil, err
	}
	if e.mode == filemode.Empty || e.isDir() || e.mode == filemode.Submodule {
		return nil, fs.ErrNotExist
	}
	size, err := o.blobSize(e.id)
	if err != nil {
		return nil, err
	}
	if size > limit { // reading a blob that is a delta needs all of it in memory
		return nil, fmt.Errorf("%w: %d bytes, limit %d", ErrTooLarge, size, limit)
	}
	in, _, err := o.openBlob(e.id)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(in)
}

// Files lists the files of a commit below prefix, a folder or a file; "" lists all. They are sorted as in git; the list
// is empty when there is no such path.
func (r *Repo) Files(ctx context.Context, sha, prefix string) (files []File, err error) {
	err = r.viewCommit(ctx, "list files", sha, func(o *packedObjects, h plumbing.Hash) error {
		files = nil
		c, err := o.readCommit(h)
		if err != nil {
			return err
		}
		prefix := strings.TrimSuffix(prefix, "/")
		e, err := newTreeFolders(o, c.TreeHash).entry(prefix)
		if err != nil || e.mode == filemode.Empty {
			return err
		}
		add := func(p string, e treeEntry) error {
			files = append(files, File{Path: p, Mode: fileMode(e.mode)})
			return nil
		}
		if !e.isDir() {
			return add(prefix, e)
		}
		return walkTree(ctx, o.readTree, e.id, path.Clean("/" + prefix)[1:], add)
	})
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, err
}

// fileMode converts git's mode to the standard library's. A submodule is a directory with [fs.ModeIrregular].
func fileMode(m filemode.FileMode) fs.FileMode {
	switch m {
	case filemode.Executable:
		return 0o755
	case filemode.Symlink:
		return 0o777 | fs.ModeSymlink
	case filemode.Submodule:
		return 0o755 | fs.ModeDir | fs.ModeIrregular
	default:
		return 0o644
	}
}

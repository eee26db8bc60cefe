package gitops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// maxLink is the longest target of a symlink that systems take, in bytes.
const maxLink = 4096

// folder is one folder to be checked out, with what lies directly in it.
type folder struct {
	path    string // "" is the root
	entries []treeEntry
}

// checkout writes a tree into an empty folder and returns the index of what it
// wrote. Line endings and filters (.gitattributes) are left alone: files are
// the bytes of the commit, as are those committed back.
func checkout(ctx context.Context, o *objects, tree plumbing.Hash, dir string) ([]indexEntry, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	folders, err := o.folders(tree)
	if err != nil {
		return nil, err
	}
	for _, f := range folders {
		if f.path != "" {
			if err := root.Mkdir(filepath.FromSlash(f.path), 0o755); err != nil {
				return nil, err
			}
		}
	}
	var mu sync.Mutex
	var index []indexEntry
	work := make(chan folder)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 4) {
		wg.Go(func() {
			for f := range work {
				entries, err := f.write(ctx, o, root)
				if err != nil {
					cancel(err)
				}
				mu.Lock()
				index = append(index, entries...)
				mu.Unlock()
			}
		})
	}
	for _, f := range folders {
		if ctx.Err() != nil {
			break
		}
		work <- f
	}
	close(work)
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return index, nil
}

// folders lists all folders of a tree, each before those in it.
func (o *objects) folders(tree plumbing.Hash) ([]folder, error) {
	type step struct {
		path  string
		id    plumbing.Hash
		depth int
	}
	var out []folder
	for queue := []step{{id: tree}}; len(queue) > 0; {
		s := queue[0]
		queue = queue[1:]
		if s.depth > maxDepth {
			return nil, fmt.Errorf("%w: folders nested deeper than %d", errTree, maxDepth)
		}
		entries, err := o.tree(s.id)
		if err != nil {
			return nil, err
		}
		out = append(out, folder{s.path, entries})
		for _, e := range entries {
			if e.isDir() {
				queue = append(queue, step{path.Join(s.path, e.name), e.id, s.depth + 1})
			}
		}
	}
	return out, nil
}

// write writes the files that lie directly in the folder.
func (f folder) write(ctx context.Context, o *objects, root *os.Root) ([]indexEntry, error) {
	dir := root
	if f.path != "" {
		d, err := root.OpenRoot(filepath.FromSlash(f.path))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		dir = d
	}
	index := make([]indexEntry, 0, len(f.entries))
	for _, e := range f.entries {
		if e.isDir() {
			continue
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		st, err := e.write(o, dir)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", clean(path.Join(f.path, e.name), 200), err)
		}
		index = append(index, indexEntry{path.Join(f.path, e.name), e.mode, e.id, st})
	}
	return index, nil
}

func (e treeEntry) write(o *objects, dir *os.Root) (fileStat, error) {
	switch e.mode {
	case filemode.Submodule: // an empty folder, as git makes it
		if err := dir.Mkdir(e.name, 0o755); err != nil {
			return fileStat{}, err
		}
		return fileStat{}, nil
	case filemode.Symlink:
		b, err := o.read(e.id, plumbing.BlobObject)
		if err != nil {
			return fileStat{}, missingIsBroken(err)
		}
		if len(b) == 0 || len(b) > maxLink || strings.Contains(string(b), "\x00") {
			return fileStat{}, fmt.Errorf("%w: symlink with an impossible target", errTree)
		}
		if err := dir.Symlink(string(b), e.name); err != nil {
			return fileStat{}, err
		}
		st, err := dir.Lstat(e.name)
		if err != nil {
			return fileStat{}, err
		}
		return statOf(st), nil
	}
	perm := os.FileMode(0o644)
	if e.mode == filemode.Executable {
		perm = 0o755
	}
	in, _, err := o.open(e.id)
	if err != nil {
		return fileStat{}, missingIsBroken(err)
	}
	defer in.Close()
	out, err := dir.OpenFile(e.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return fileStat{}, err
	}
	_, err = io.Copy(out, in)
	st, serr := out.Stat()
	if err := errors.Join(err, serr, out.Close()); err != nil {
		return fileStat{}, err
	}
	return statOf(st), nil
}

// missingIsBroken says that an object which a commit in the mirror needs has to
// be there.
func missingIsBroken(err error) error {
	if errors.Is(err, errNoObject) {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	return err
}

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
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// maxLink is the longest target of a symlink that systems take, in bytes.
const maxLink = 4096

// checkoutBatch is how many files a worker takes at a time.
const checkoutBatch = 32

// checkoutFile is a file to be written, and where it lies in which pack.
type checkoutFile struct {
	path string
	treeEntry
	pack *packFile
	off  int64
}

// checkoutTree writes a tree into an empty folder that nobody else uses yet, and
// returns the index of what it wrote. Line endings and filters (.gitattributes)
// are left alone: files are the bytes of the commit, as are those committed back.
//
// Nothing is written outside dir: names were checked when the trees were read,
// the folders are made before all else, none may exist, and symlinks come last.
func checkoutTree(ctx context.Context, o *packedObjects, tree plumbing.Hash, dir string) ([]indexEntry, error) {
	if err := o.measureTree(ctx, tree); err != nil {
		return nil, err
	}
	files, links, err := o.makeFolders(ctx, tree, dir)
	if err != nil {
		return nil, err
	}
	// In the order of the pack, what shares a base lies together.
	sort.Slice(files, func(i, j int) bool {
		if files[i].pack != files[j].pack {
			return files[i].pack.path < files[j].pack.path
		}
		return files[i].off < files[j].off
	})
	index := make([]indexEntry, len(files), len(files)+len(links))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 4) {
		wg.Go(func() {
			for ctx.Err() == nil {
				from := int(next.Add(checkoutBatch)) - checkoutBatch
				if from >= len(files) {
					return
				}
				for i := from; i < min(from+checkoutBatch, len(files)); i++ {
					e, err := files[i].write(ctx, o, dir)
					if err != nil {
						cancel(err)
						return
					}
					index[i] = e
				}
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, l := range links {
		e, err := l.write(ctx, o, dir)
		if err != nil {
			return nil, err
		}
		index = append(index, e)
	}
	return index, nil
}

// cancelled is a reader that ends with its context.
type cancelled struct {
	ctx context.Context
	in  io.Reader
}

// Read reads while the context lives.
func (c cancelled) Read(b []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.in.Read(b)
}

// treeExtent is the size of a tree, written out.
type treeExtent struct {
	files int
	bytes int64
	depth int // of folders in it
}

// treeMeasurer measures each tree and each blob once, however often it occurs.
type treeMeasurer struct {
	ctx   context.Context
	o     *packedObjects
	trees map[plumbing.Hash]treeExtent
	blobs map[plumbing.Hash]int64
}

// measureTree refuses a tree that is beyond the bounds, before any of it is written.
func (o *packedObjects) measureTree(ctx context.Context, tree plumbing.Hash) error {
	m := treeMeasurer{ctx, o, map[plumbing.Hash]treeExtent{}, map[plumbing.Hash]int64{}}
	_, err := m.measure(tree, 0)
	return err
}

func (m *treeMeasurer) measure(tree plumbing.Hash, depth int) (x treeExtent, err error) {
	x, known := m.trees[tree]
	if depth+x.depth > maxDepth {
		return x, errDeep
	}
	if known {
		return x, nil
	}
	if m.ctx.Err() != nil {
		return x, context.Cause(m.ctx)
	}
	entries, err := m.o.readTree(tree)
	if err != nil {
		return x, err
	}
	for _, e := range entries {
		x.files++
		switch e.mode {
		case filemode.Dir:
			below, err := m.measure(e.id, depth+1)
			if err != nil {
				return x, err
			}
			x.files, x.bytes, x.depth = x.files+below.files, x.bytes+below.bytes, max(x.depth, below.depth+1)
		case filemode.Submodule:
		default:
			size, err := m.blobSize(e.id)
			if err != nil {
				return x, missingIsBroken(err)
			}
			x.bytes += size
		}
		if x.files > maxTreeFiles {
			return x, errMany
		}
		if x.bytes > maxTreeBytes {
			return x, fmt.Errorf("%w: more than %d GiB", ErrTree, maxTreeBytes>>30)
		}
	}
	m.trees[tree] = x
	return x, nil
}

func (m *treeMeasurer) blobSize(id plumbing.Hash) (int64, error) {
	size, known := m.blobs[id]
	if known {
		return size, nil
	}
	size, err := m.o.blobSize(id)
	if err == nil {
		m.blobs[id] = size
	}
	return size, err
}

// makeFolders makes all folders of a tree and lists what goes into them.
func (o *packedObjects) makeFolders(
	ctx context.Context, tree plumbing.Hash, dir string,
) (files, links []checkoutFile, err error) {
	type step struct {
		path string
		id   plumbing.Hash
	}
	for queue := []step{{id: tree}}; len(queue) > 0; {
		s := queue[0]
		queue = queue[1:]
		entries, err := o.readTree(s.id)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range entries {
			if ctx.Err() != nil {
				return nil, nil, context.Cause(ctx)
			}
			f := checkoutFile{path: path.Join(s.path, e.name), treeEntry: e}
			switch e.mode {
			case filemode.Dir:
				queue = append(queue, step{f.path, e.id})
				fallthrough
			case filemode.Submodule: // an empty folder, as git makes it
				if err := os.Mkdir(filepath.Join(dir, filepath.FromSlash(f.path)), 0o755); err != nil {
					return nil, nil, err
				}
				if e.mode == filemode.Submodule {
					links = append(links, f)
				}
			case filemode.Symlink:
				links = append(links, f)
			default:
				if f.pack, f.off, err = o.findObject(e.id); err != nil {
					return nil, nil, missingIsBroken(err)
				}
				files = append(files, f)
			}
		}
	}
	return files, links, nil
}

func (f checkoutFile) write(ctx context.Context, o *packedObjects, dir string) (indexEntry, error) {
	st, err := f.create(ctx, o, filepath.Join(dir, filepath.FromSlash(f.path)))
	if err != nil {
		return indexEntry{}, fmt.Errorf("write %s: %w", cleanText(f.path, 200), err)
	}
	return indexEntry{f.path, f.mode, f.id, st}, nil
}

func (f checkoutFile) create(ctx context.Context, o *packedObjects, name string) (fileStat, error) {
	switch f.mode {
	case filemode.Submodule:
		return fileStat{}, nil
	case filemode.Symlink:
		b, err := o.readObject(f.id, plumbing.BlobObject)
		if err != nil {
			return fileStat{}, missingIsBroken(err)
		}
		if len(b) == 0 || len(b) > maxLink || strings.Contains(string(b), "\x00") {
			return fileStat{}, fmt.Errorf("%w: symlink with an impossible target", ErrTree)
		}
		if err := os.Symlink(string(b), name); err != nil {
			return fileStat{}, err
		}
		st, err := os.Lstat(name)
		if err != nil {
			return fileStat{}, err
		}
		return statOf(st), nil
	}
	perm := os.FileMode(0o644)
	if f.mode == filemode.Executable {
		perm = 0o755
	}
	in, _, err := o.openBlob(f.id)
	if err != nil {
		return fileStat{}, missingIsBroken(err)
	}
	defer in.Close()
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return fileStat{}, err
	}
	_, err = io.Copy(out, cancelled{ctx, in})
	st, serr := out.Stat()
	if err := errors.Join(err, serr, out.Close()); err != nil {
		return fileStat{}, err
	}
	return statOf(st), nil
}

// missingIsBroken makes a missing object a fault of the mirror: every commit in it
// is complete.
func missingIsBroken(err error) error {
	if errors.Is(err, errNoObject) {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	return err
}

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

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
	"golang.org/x/sync/errgroup"
)

// maxLink is the longest symlink target that systems accept, in bytes.
const maxLink = 4096

// checkoutBatch is how many files a worker takes at a time.
const checkoutBatch = 32

// checkoutFile is a file to write, and its place in a pack.
type checkoutFile struct {
	treeFile
	pack *packFile
	off  int64
}

// checkoutTree writes a tree into an empty folder that nobody else uses yet, and returns the index of the written
// files. Line endings and filters (.gitattributes) are not applied: files hold the bytes of the commit, and the same
// bytes are committed back.
//
// Nothing is written outside dir: names were checked when the trees were read, folders are made first, files must not
// exist, and symlinks come last.
func checkoutTree(ctx context.Context, o *packedObjects, tree plumbing.Hash, dir string) ([]*index.Entry, error) {
	all, err := o.listTree(ctx, tree)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files, links, err := o.makeFolders(ctx, all, root)
	if err != nil {
		return nil, err
	}
	// In pack order, objects with the same base are next to each other.
	sort.Slice(files, func(i, j int) bool {
		if files[i].pack != files[j].pack {
			return files[i].pack.path < files[j].pack.path
		}
		return files[i].off < files[j].off
	})
	entries := make([]*index.Entry, len(files), len(all))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(min(runtime.GOMAXPROCS(0), 4))
	for from := 0; from < len(files) && within.Err() == nil; from += checkoutBatch {
		group.Go(func() error {
			for i := from; i < min(from+checkoutBatch, len(files)); i++ {
				e, err := o.writeFile(within, root, files[i].treeFile)
				if err != nil {
					return missingIsBroken(err)
				}
				entries[i] = &e
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, l := range links {
		e, err := o.writeFile(ctx, root, l)
		if err != nil {
			return nil, missingIsBroken(err)
		}
		entries = append(entries, &e)
	}
	return entries, nil
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

// makeFolders makes all folders of a tree and lists the files to write. A submodule becomes an empty folder, as in git.
func (o *packedObjects) makeFolders(
	ctx context.Context, all []treeFile, root *os.Root,
) (files []checkoutFile, links []treeFile, err error) {
	made := map[string]bool{".": true}
	for _, f := range all {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		dir := path.Dir(f.path)
		switch f.mode {
		case filemode.Submodule:
			dir = f.path
			fallthrough
		case filemode.Symlink:
			links = append(links, f)
		default:
			pack, off, err := o.findObject(f.id)
			if err != nil {
				return nil, nil, missingIsBroken(err)
			}
			files = append(files, checkoutFile{f, pack, off})
		}
		if made[dir] {
			continue
		}
		made[dir] = true
		if err := root.MkdirAll(filepath.FromSlash(dir), 0o755); err != nil {
			return nil, nil, err
		}
	}
	return files, links, nil
}

// writeFile writes a new file or symlink and returns its index entry.
func (o *packedObjects) writeFile(ctx context.Context, root *os.Root, f treeFile) (e index.Entry, err error) {
	name := filepath.FromSlash(f.path)
	switch f.mode {
	case filemode.Submodule:
	case filemode.Symlink:
		e, err = o.writeLink(root, name, f.id)
	default:
		e, err = o.writeRegular(ctx, root, name, f.treeEntry)
	}
	if err != nil {
		return e, fmt.Errorf("write %s: %w", cleanText(f.path, 200), err)
	}
	e.Name, e.Mode, e.Hash = f.path, f.mode, f.id
	return e, nil
}

func (o *packedObjects) writeLink(root *os.Root, name string, id plumbing.Hash) (e index.Entry, err error) {
	b, err := o.readObject(id, plumbing.BlobObject)
	if err != nil {
		return e, err
	}
	if len(b) == 0 || len(b) > maxLink || strings.Contains(string(b), "\x00") {
		return e, fmt.Errorf("%w: symlink with an impossible target", ErrTree)
	}
	if err := root.Symlink(string(b), name); err != nil {
		return e, err
	}
	st, err := root.Lstat(name)
	if err != nil {
		return e, err
	}
	return statOf(st), nil
}

func (o *packedObjects) writeRegular(
	ctx context.Context, root *os.Root, name string, f treeEntry,
) (e index.Entry, err error) {
	perm := os.FileMode(0o644)
	if f.mode == filemode.Executable {
		perm = 0o755
	}
	in, _, err := o.openBlob(f.id)
	if err != nil {
		return e, err
	}
	defer in.Close()
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return e, err
	}
	_, err = io.Copy(out, cancelled{ctx, in})
	st, serr := out.Stat()
	if err := errors.Join(err, serr, out.Close()); err != nil {
		return e, err
	}
	return statOf(st), nil
}

// missingIsBroken turns a missing object into errBroken: every commit in a mirror is complete.
func missingIsBroken(err error) error {
	if errors.Is(err, errNoObject) {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	return err
}

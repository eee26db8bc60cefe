package testrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/gitops"
)

// Limits of a tree for tests.
const (
	maxTreeFiles = 60_000
	maxTreeBytes = 2 << 30
	maxBlob      = 256 << 20
)

// WorkTree is a folder for the files of successive trees. Files common to the last tree and the next are kept; all
// others are removed. Its content is untrusted, since tests ran in it. It is not safe for concurrent use.
type WorkTree struct {
	Dir   string // absolute
	blobs func(id string) ([]byte, error)
}

// NewWorkTree returns a WorkTree at dir for trees of a history.
func NewWorkTree(dir string, history *gitops.History) *WorkTree {
	return &WorkTree{Dir: dir, blobs: func(id string) ([]byte, error) { return history.Blob(id, maxBlob) }}
}

// Set makes the folder contain exactly these files, and links: names with targets outside. made are contents that the
// history does not have, by ID.
func (w *WorkTree) Set(ctx context.Context, want Files, made map[string][]byte, links map[string]string) error {
	if len(want) > maxTreeFiles {
		return fmt.Errorf("lay out tree: %w: more than %d files", gitops.ErrTree, maxTreeFiles)
	}
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		return fmt.Errorf("lay out tree: %w", err)
	}
	root, err := os.OpenRoot(w.Dir)
	if err != nil {
		return fmt.Errorf("lay out tree: %w", err)
	}
	defer root.Close()
	there, err := w.tidy(ctx, root, want)
	if err != nil {
		return fmt.Errorf("lay out tree: %w", err)
	}
	var total int64
	for _, p := range slices.Sorted(maps.Keys(want)) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if there[p] {
			continue
		}
		n, err := w.write(root, p, want[p], made)
		if err != nil {
			return fmt.Errorf("lay out %s: %w", p, err)
		}
		if total += n; total > maxTreeBytes {
			return fmt.Errorf("lay out tree: %w: more than %d GiB", gitops.ErrTree, maxTreeBytes>>30)
		}
	}
	return w.Link(links)
}

// Link creates symbolic links to targets outside, replacing existing files.
func (w *WorkTree) Link(links map[string]string) error {
	root, err := os.OpenRoot(w.Dir)
	if err != nil {
		return fmt.Errorf("lay out links: %w", err)
	}
	defer root.Close()
	for name, target := range links {
		err := errors.Join(root.RemoveAll(name), root.MkdirAll(path.Dir(name), 0o755), root.Symlink(target, name))
		if err != nil {
			return fmt.Errorf("lay out %s: %w", name, err)
		}
	}
	return nil
}

// Changed returns the files that differ from a tree, and new ones. It ignores .git and node_modules, and fails on more
// than twice maxTreeFiles files.
func (w *WorkTree) Changed(ctx context.Context, was Files) (out []string, err error) {
	root, err := os.OpenRoot(w.Dir)
	if err != nil {
		return nil, fmt.Errorf("look for changes: %w", err)
	}
	defer root.Close()
	there, met := map[string]bool{}, 0
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch met++; {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case met > 2*maxTreeFiles:
			return fmt.Errorf("%w: more than %d files", gitops.ErrTree, 2*maxTreeFiles)
		case d.IsDir() && (p == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		there[p] = true
		if f, known := was[p]; !known || !w.same(root, p, f, d) {
			out = append(out, p)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for changes: %w", err)
	}
	for p := range was {
		if !there[p] {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out, nil
}

// tidy removes files that are not part of want or differ from it, and returns the others.
func (w *WorkTree) tidy(ctx context.Context, root *os.Root, want Files) (there map[string]bool, err error) {
	folders := map[string]bool{".": true}
	for p := range want {
		for d := path.Dir(p); !folders[d]; d = path.Dir(d) {
			folders[d] = true
		}
	}
	there = map[string]bool{}
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case p == ".":
			return nil
		case d.IsDir() && folders[p]:
			return root.Chmod(p, 0o755) // tests may have changed it
		case d.IsDir():
			if err := sandbox.RemoveAll(filepath.Join(w.Dir, filepath.FromSlash(p))); err != nil {
				return err
			}
			return fs.SkipDir
		}
		f, wanted := want[p]
		if wanted && w.same(root, p, f, d) {
			there[p] = true
			return nil
		}
		return root.Remove(p)
	})
	return there, err
}

// same reports whether a file has the content and mode in a commit.
func (w *WorkTree) same(root *os.Root, p string, f gitops.HistoryFile, d fs.DirEntry) bool {
	if f.Link {
		if d.Type() != fs.ModeSymlink {
			return false
		}
		target, err := root.Readlink(p)
		return err == nil && gitops.BlobID(int64(len(target)), strings.NewReader(target)) == f.ID
	}
	info, err := d.Info()
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != modeOf(f) || info.Size() > maxBlob {
		return false
	}
	in, err := root.Open(p)
	if err != nil {
		return false
	}
	defer in.Close()
	return gitops.BlobID(info.Size(), io.LimitReader(in, info.Size())) == f.ID
}

func modeOf(f gitops.HistoryFile) fs.FileMode {
	if f.Executable {
		return 0o755
	}
	return 0o644
}

// write writes a new file. It creates missing folders; none of them is a link, since tidy removed links at their paths.
func (w *WorkTree) write(root *os.Root, p string, f gitops.HistoryFile, made map[string][]byte) (n int64, err error) {
	if err := root.MkdirAll(path.Dir(p), 0o755); err != nil {
		return 0, err
	}
	b, ok := made[f.ID]
	if !ok {
		if b, err = w.blobs(f.ID); err != nil {
			return 0, err
		}
	}
	if f.Link {
		return int64(len(b)), root.Symlink(string(b), p)
	}
	out, err := root.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	_, err = out.Write(b)
	return int64(len(b)), errors.Join(err, out.Chmod(modeOf(f)), out.Close())
}

// Overlay replaces files, of any type, and removes others; made is as for Set.
func (w *WorkTree) Overlay(over Files, made map[string][]byte, without []string) error {
	root, err := os.OpenRoot(w.Dir)
	if err != nil {
		return fmt.Errorf("lay tests over: %w", err)
	}
	defer root.Close()
	for _, p := range without {
		if err := root.RemoveAll(p); err != nil {
			return fmt.Errorf("lay tests over: %w", err)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(over)) {
		err := root.RemoveAll(p)
		if err == nil {
			_, err = w.write(root, p, over[p], made)
		}
		if err != nil {
			return fmt.Errorf("lay %s over: %w", p, err)
		}
	}
	return nil
}

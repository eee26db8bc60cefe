package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sia-bot/sia/sia/gitignore"
)

// Bounds of a walk.
const (
	maxEntries = 200_000
	maxDepth   = 100              // of folders, in what tools read and write
	walkWithin = 20 * time.Second // for whatever is done on the way
)

// errCut ends a walk before it has visited everything. What was visited until then counts.
var errCut = errors.New("too much to look through")

var (
	errSlow = fmt.Errorf("%w: this took more than %s; narrow it with path or glob", errCut, walkWithin)
	errMany = fmt.Errorf("%w: there are more than %d files and folders; name a smaller folder", errCut, maxEntries)
)

// errStop ends a walk without an error.
var errStop = errors.New("stop")

// treeEntry is one file or directory met on a walk.
type treeEntry struct {
	path    string // slash-separated, from the work tree's root
	depth   int    // 1 for what stands in the directory itself
	mode    fs.FileMode
	size    int64
	folder  *os.Root // that it lies in, for as long as it is visited
	ignored bool     // a directory that git ignores; files that it ignores are not visited
}

// open opens the entry, a regular file, for reading. The name is looked up in the folder
// that the walk has open: however deep that is, it costs nothing.
func (e treeEntry) open() (*os.File, error) {
	f, _, err := openRegular(e.folder, path.Base(e.path))
	return f, err
}

// walkTree visits what is in dir, in the order of names, a directory before what is in
// it. Links are met but not followed. Left out are .git and what git ignores: what the
// .gitignore files on the way name, unless it is tracked. Nothing is left out where git
// ignores dir itself and all that is in it: whoever names it means that. visit says whether to go into a
// directory. It ends with ctx, after walkWithin with [errSlow], and after maxEntries with
// [errMany].
func walkTree(ctx context.Context, root *os.Root, dir string, visit func(treeEntry) (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, walkWithin, errSlow)
	defer cancel()
	w := treeWalker{ctx: ctx, visit: visit, most: maxEntries,
		tracked: sync.OnceValue(func() trackedFiles { return readTracked(root) })}
	folder, err := root.OpenRoot(".")
	if err != nil {
		return pathError("list", dir, err)
	}
	defer func() { folder.Close() }()
	at, rules, hidden := ".", ignoreRules(folder, "", nil), false
	for part := range strings.SplitSeq(dir, "/") {
		if part == "." {
			continue
		}
		inner, err := folder.OpenRoot(part)
		if err != nil {
			return pathError("list", dir, err)
		}
		folder.Close()
		folder, at = inner, path.Join(at, part)
		if hidden = hidden || rules.Ignore(at, true); !hidden {
			rules = ignoreRules(folder, at, rules)
		}
	}
	w.named = hidden && !w.tracked().has(at, true)
	err = w.walkDir(folder, at, 1, rules, hidden)
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

type treeWalker struct {
	ctx     context.Context
	visit   func(treeEntry) (bool, error)
	tracked func() trackedFiles // asked only where something is named by a .gitignore
	named   bool                // the walk began at what git ignores, and leaves nothing out
	most    int                 // entries
	seen    int
}

// walkDir walks a folder. When hidden, git ignores it, and only what is tracked counts.
func (w *treeWalker) walkDir(folder *os.Root, dir string, depth int, rules gitignore.Rules, hidden bool) error {
	entries, err := readFolder(folder, w.most-w.seen)
	if err != nil {
		return pathError("list", dir, err)
	}
	for _, d := range entries {
		if w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		if w.seen++; w.seen > w.most {
			return errMany
		}
		if isGit(d.Name()) {
			continue
		}
		e := treeEntry{path: path.Join(dir, d.Name()), depth: depth, mode: d.Type(), folder: folder}
		hide := hidden || rules.Ignore(e.path, d.IsDir())
		e.ignored = hide && !w.named && !w.tracked().has(e.path, d.IsDir())
		if e.ignored && !d.IsDir() {
			continue
		}
		if e.mode.IsRegular() {
			st, err := folder.Lstat(d.Name())
			if err != nil { // gone meanwhile
				continue
			}
			e.size = st.Size()
		}
		enter, err := w.visit(e)
		if err != nil {
			return err
		}
		if enter && d.IsDir() && !e.ignored && depth < maxDepth {
			if err := w.enter(e, rules, hide); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter walks a folder that was met.
func (w *treeWalker) enter(e treeEntry, rules gitignore.Rules, hidden bool) error {
	inner, err := e.folder.OpenRoot(path.Base(e.path))
	if err != nil {
		return pathError("list", e.path, err)
	}
	defer inner.Close()
	if !hidden {
		rules = ignoreRules(inner, e.path, rules)
	}
	return w.walkDir(inner, e.path, e.depth+1, rules, hidden)
}

// readFolder lists what is in a folder, in the order of names: one more than most entries
// at most.
func readFolder(folder *os.Root, most int) ([]fs.DirEntry, error) {
	f, err := folder.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(max(most, 0) + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// ignoreRules adds the rules of an open folder's .gitignore to those of its parents. A
// file that can't be read adds nothing.
func ignoreRules(folder *os.Root, dir string, above gitignore.Rules) gitignore.Rules {
	f, st, err := openRegular(folder, ".gitignore")
	if err != nil {
		return above
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, gitignore.MaxFile))
	if err != nil || st.Size() > gitignore.MaxFile {
		return above
	}
	return above.With(dir, b)
}

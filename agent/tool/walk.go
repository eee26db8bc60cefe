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

// Limits of a walk.
const (
	maxEntries  = 200_000
	maxDepth    = 100              // maximum nesting of folders, for reading and writing
	walkTimeout = 20 * time.Second // including the work of visit
)

// errCut ends a walk early. The entries visited until then are still used.
var errCut = errors.New("too much to look through")

var (
	errSlow    = fmt.Errorf("%w: this took more than %s; narrow it with path or glob", errCut, walkTimeout)
	errTooMany = fmt.Errorf("%w: there are more than %d files and folders; name a smaller folder", errCut, maxEntries)
)

// errStop ends a walk without an error.
var errStop = errors.New("stop")

// treeEntry is a file or directory visited on a walk.
type treeEntry struct {
	path    string // slash-separated, relative to the work tree's root
	depth   int    // 1 for direct entries of the directory
	mode    fs.FileMode
	size    int64
	folder  *os.Root // folder that contains it, open while it is visited
	ignored bool     // a directory ignored by git; ignored files are not visited
}

// open opens the entry, a regular file, for reading. It uses the open folder, so that depth costs nothing.
func (e treeEntry) open() (*os.File, error) {
	f, _, err := openRegular(e.folder, path.Base(e.path))
	return f, err
}

// walkTree visits the entries of dir recursively in the order of names, a directory before its content. Links are
// visited but not followed. It skips .git and what the .gitignore files on the way or .git/info/exclude ignore, unless
// tracked. If dir itself is ignored with all of its content, nothing is skipped, since the caller named it. visit
// returns whether to enter a directory. The walk ends with ctx, after walkTimeout with [errSlow], and after maxEntries
// with [errTooMany].
func walkTree(ctx context.Context, root *os.Root, dir string, visit func(treeEntry) (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, walkTimeout, errSlow)
	defer cancel()
	w := treeWalker{ctx: ctx, visit: visit, limit: maxEntries,
		tracked: sync.OnceValue(func() trackedFiles { return readTracked(root) })}
	folder, err := root.OpenRoot(".")
	if err != nil {
		return pathError("list", dir, err)
	}
	defer func() { folder.Close() }()
	at, rules, hidden := ".", ignoreRules(folder, "", readRules(folder, "", ".git/info/exclude", nil)), false
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
	tracked func() trackedFiles // called only if a .gitignore matches
	named   bool                // the walk began in an ignored folder and skips nothing
	limit   int                 // entries
	seen    int
}

// walkDir walks a folder. If hidden, git ignores the folder, and only tracked files count.
func (w *treeWalker) walkDir(folder *os.Root, dir string, depth int, rules gitignore.Rules, hidden bool) error {
	entries, err := readFolder(folder, w.limit-w.seen)
	if err != nil {
		return pathError("list", dir, err)
	}
	for _, d := range entries {
		if w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		if w.seen++; w.seen > w.limit {
			return errTooMany
		}
		if gitignore.IsDotGit(d.Name()) {
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
			if err != nil { // it was removed
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

// enter walks a folder that was visited.
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

// readFolder lists the entries of a folder in the order of names, at most limit+1.
func readFolder(folder *os.Root, limit int) ([]fs.DirEntry, error) {
	f, err := folder.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(max(limit, 0) + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// ignoreRules adds the rules of an open folder's .gitignore to those of its parents.
func ignoreRules(folder *os.Root, dir string, above gitignore.Rules) gitignore.Rules {
	return readRules(folder, dir, ".gitignore", above)
}

// readRules adds the rules of a file to those of the parents. An unreadable file adds none.
func readRules(folder *os.Root, dir, name string, above gitignore.Rules) gitignore.Rules {
	f, st, err := openRegular(folder, name)
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

package tool

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// Bounds of a walk.
const (
	maxEntries = 200_000
	maxIgnore  = 256 << 10 // bytes of one .gitignore
)

// errStop ends a walk without an error.
var errStop = errors.New("stop")

// treeEntry is one file or directory met on a walk.
type treeEntry struct {
	path    string // slash-separated, from the work tree's root
	depth   int    // 1 for what stands in the directory itself
	mode    fs.FileMode
	size    int64
	ignored bool // a directory that a .gitignore names; files that one names are not visited
}

// walkTree visits what is in dir, in the order of names, a directory before what is in
// it. Links are met but not followed. Left out are .git and what the .gitignore files
// on the way ignore. visit says whether to go into a directory.
func walkTree(ctx context.Context, root *os.Root, dir string, visit func(treeEntry) (bool, error)) error {
	w := treeWalker{ctx: ctx, root: root, visit: visit}
	rules := ignoreRules(root, ".", nil)
	if dir != "." {
		at := ""
		for part := range strings.SplitSeq(dir, "/") {
			at = path.Join(at, part)
			rules = ignoreRules(root, at, rules)
		}
	}
	err := w.walkDir(dir, 1, rules)
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

type treeWalker struct {
	ctx   context.Context
	root  *os.Root
	visit func(treeEntry) (bool, error)
	seen  int
}

func (w *treeWalker) walkDir(dir string, depth int, rules []gitignore.Pattern) error {
	entries, err := fs.ReadDir(w.root.FS(), dir)
	if err != nil {
		return pathError("list", dir, err)
	}
	matcher := gitignore.NewMatcher(rules)
	for _, d := range entries {
		if err := w.ctx.Err(); err != nil {
			return context.Cause(w.ctx)
		}
		if w.seen++; w.seen > maxEntries {
			return errStop
		}
		if isGit(d.Name()) {
			continue
		}
		e := treeEntry{path: path.Join(dir, d.Name()), depth: depth, mode: d.Type()}
		e.ignored = matcher.Match(strings.Split(e.path, "/"), d.IsDir())
		if e.ignored && !d.IsDir() {
			continue
		}
		if e.mode.IsRegular() {
			st, err := d.Info()
			if err != nil { // gone meanwhile
				continue
			}
			e.size = st.Size()
		}
		enter, err := w.visit(e)
		if err != nil {
			return err
		}
		if enter && d.IsDir() && !e.ignored && depth < 64 {
			if err := w.walkDir(e.path, depth+1, ignoreRules(w.root, e.path, rules)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ignoreRules adds the patterns of dir's .gitignore to those of its parents. A file
// that can't be read adds nothing.
func ignoreRules(root *os.Root, dir string, above []gitignore.Pattern) []gitignore.Pattern {
	f, _, err := openRegular(root, path.Join(dir, ".gitignore"))
	if err != nil {
		return above
	}
	defer f.Close()
	var domain []string
	if dir != "." {
		domain = strings.Split(dir, "/")
	}
	rules := above[:len(above):len(above)]
	lines := bufio.NewScanner(io.LimitReader(f, maxIgnore))
	for lines.Scan() {
		if l := strings.TrimRight(lines.Text(), " \t\r"); l != "" && !strings.HasPrefix(l, "#") {
			rules = append(rules, gitignore.ParsePattern(l, domain))
		}
	}
	return rules
}

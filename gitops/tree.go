package gitops

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/sia-bot/sia/sia/gitignore"
)

// treeEntry is one line of a tree.
type treeEntry struct {
	name string
	mode filemode.FileMode
	id   plumbing.Hash
}

func (e treeEntry) isDir() bool { return e.mode == filemode.Dir }

func (e treeEntry) sameAs(x treeEntry) bool { return e.mode == x.mode && e.id == x.id }

// Bounds of a tree. A few objects can describe any number of files.
const (
	maxDepth     = 200      // of folders
	maxTreeFiles = 500_000  // and folders
	maxTreeBytes = 10 << 30 // written out
	maxTreePaths = 1 << 28  // bytes of all paths together
)

var errDeep = fmt.Errorf("%w: folders nested deeper than %d", ErrTree, maxDepth)

// parseTree reads a tree object: "<octal mode> <name>\0<20 bytes>" per entry. Names that could leave a work tree or
// reach into .git are refused.
func parseTree(b []byte) ([]treeEntry, error) {
	entries := make([]treeEntry, 0, len(b)/36)
	for len(b) > 0 {
		head, rest, ok := bytes.Cut(b, []byte{0})
		mode, name, ok2 := strings.Cut(string(head), " ")
		if !ok || !ok2 || len(rest) < 20 {
			return nil, ErrTree
		}
		m, err := filemode.New(mode)
		if err != nil {
			return nil, fmt.Errorf("%w: mode %q", ErrTree, cleanText(mode, 20))
		}
		if !safeName(name) {
			return nil, fmt.Errorf("%w: name %q is not allowed", ErrTree, cleanText(name, 80))
		}
		switch m {
		case filemode.Dir, filemode.Regular, filemode.Executable, filemode.Symlink, filemode.Submodule:
		case filemode.Deprecated: // 100664, written by very old versions
		default:
			return nil, fmt.Errorf("%w: mode %q", ErrTree, cleanText(mode, 20))
		}
		entries = append(entries, treeEntry{name, m, plumbing.Hash(rest[:20])})
		b = rest[20:]
	}
	return entries, nil
}

// safeName reports whether a tree may have a file of this name.
func safeName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00") && !gitignore.IsDotGit(name)
}

// portableName reports whether a new file may have this name. Existing names may have a backslash: it is a part of a
// name on Linux, but separates folders, such as .git, on Windows.
func portableName(name string) bool { return safeName(name) && !strings.Contains(name, `\`) }

// encodeTree is parseTree's inverse; it sorts as git does: a folder's name counts as if it ended in a slash.
func encodeTree(entries []treeEntry) []byte {
	key := func(e treeEntry) string {
		if e.isDir() {
			return e.name + "/"
		}
		return e.name
	}
	slices.SortFunc(entries, func(a, b treeEntry) int { return cmp.Compare(key(a), key(b)) })
	var b bytes.Buffer
	for _, e := range entries {
		fmt.Fprintf(&b, "%o %s\x00", uint32(e.mode), e.name)
		b.Write(e.id[:])
	}
	return b.Bytes()
}

func (o *packedObjects) readTree(h plumbing.Hash) ([]treeEntry, error) {
	if h.IsZero() {
		return nil, nil
	}
	b, err := o.readObject(h, plumbing.TreeObject)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	entries, err := parseTree(b)
	if err != nil {
		return nil, fmt.Errorf("tree %s: %w", h, err)
	}
	return entries, nil
}

// walkTree calls visit for everything in a tree except folders, folder by folder and sorted by name, with paths below
// dir.
func walkTree(
	ctx context.Context, read func(plumbing.Hash) ([]treeEntry, error), tree plumbing.Hash, dir string,
	visit func(path string, e treeEntry) error,
) error {
	c := treeComparison{ctx: ctx, read: read, most: maxTreeFiles,
		visit: func(c treeChange) error { return visit(c.path, c.new) }}
	return c.compare(plumbing.ZeroHash, tree, dir, 0)
}

// treeFile is an entry of a tree other than a folder, with its path.
type treeFile struct {
	path string
	treeEntry
}

// listTree lists the files of a tree. A tree beyond the bounds is refused, so that nothing of it is written.
func (o *packedObjects) listTree(ctx context.Context, tree plumbing.Hash) (files []treeFile, err error) {
	var size, paths int64
	sizes := map[plumbing.Hash]int64{}
	err = walkTree(ctx, o.readTree, tree, "", func(p string, e treeEntry) error {
		blob, known := sizes[e.id]
		if !known && e.mode != filemode.Submodule {
			if blob, err = o.blobSize(e.id); err != nil {
				return missingIsBroken(err)
			}
			sizes[e.id] = blob
		}
		if size, paths = size+blob, paths+int64(len(p)); size > maxTreeBytes || paths > maxTreePaths {
			return fmt.Errorf("%w: more than %d GiB, or %d MiB of names", ErrTree, maxTreeBytes>>30, maxTreePaths>>20)
		}
		files = append(files, treeFile{p, e})
		return nil
	})
	return files, err
}

// treeFolders looks up paths of a tree, reading each folder once.
type treeFolders struct {
	objects *packedObjects
	root    plumbing.Hash
	folders map[plumbing.Hash]map[string]treeEntry // by name
}

func newTreeFolders(o *packedObjects, root plumbing.Hash) *treeFolders {
	return &treeFolders{objects: o, root: root, folders: map[plumbing.Hash]map[string]treeEntry{}}
}

// entry returns the entry at a path; the zero entry means nothing. The empty path is the tree itself.
func (t *treeFolders) entry(name string) (treeEntry, error) {
	e := treeEntry{mode: filemode.Dir, id: t.root}
	if name == "" || name == "." {
		return e, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if !e.isDir() {
			return treeEntry{}, nil
		}
		folder, known := t.folders[e.id]
		if !known {
			entries, err := t.objects.readTree(e.id)
			if err != nil {
				return treeEntry{}, err
			}
			folder = make(map[string]treeEntry, len(entries))
			for _, n := range entries {
				folder[n.name] = n
			}
			t.folders[e.id] = folder
		}
		e = folder[part]
	}
	return e, nil
}

// holds returns [ErrOtherContent] if the tree has entries, and none at any of the paths, or other ones; see
// [FilesSpec].
func (t *treeFolders) holds(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	found := false
	for _, p := range paths {
		e, err := t.entry(p)
		if err != nil {
			return err
		}
		found = found || e.mode != filemode.Empty
	}
	root := t.folders[t.root]
	for name := range root {
		isOwn := slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p+"/", name+"/") })
		if !isOwn && !strings.HasPrefix(name, ".git") && path.Ext(name) != ".md" { // people may explain the branch
			return ErrOtherContent
		}
	}
	if len(root) > 0 && !found {
		return ErrOtherContent
	}
	return nil
}

// blockedBy returns the file, after edits, where a path needs a folder; "" means none.
func (t *treeFolders) blockedBy(name string, edits treeEdits) (string, error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		e, edited := edits[dir]
		if !edited {
			var err error
			if e, err = t.entry(dir); err != nil {
				return "", err
			}
		}
		if e.mode != filemode.Empty && !e.isDir() {
			return dir, nil
		}
	}
	return "", nil
}

// treeChange is a path that differs between two trees. A side that lacks it has the zero entry.
type treeChange struct {
	path     string
	old, new treeEntry
}

const (
	// maxCompared bounds the entries that are read to compare two trees. A tree may contain another many times, and that
	// one a third, so a few objects can describe an endless tree.
	maxCompared = 1_000_000
	// folderCost is the cost of reading a folder, in entries.
	folderCost = 10
)

// compareTrees lists the differences between two trees of a mirror, sorted by path.
func (o *packedObjects) compareTrees(ctx context.Context, from, to plumbing.Hash) ([]treeChange, error) {
	return listChanges(ctx, o.readTree, from, to)
}

// listChanges lists the differences between two trees, sorted by path.
func listChanges(
	ctx context.Context, read func(plumbing.Hash) ([]treeEntry, error), from, to plumbing.Hash,
) (out []treeChange, err error) {
	err = compareTrees(ctx, read, from, to, func(c treeChange) error {
		out = append(out, c)
		return nil
	})
	slices.SortFunc(out, func(a, b treeChange) int { return cmp.Compare(a.path, b.path) })
	return out, err
}

// compareTrees calls visit for the differences between two trees, folder by folder; equal parts are not read. Zero
// hashes are empty trees. The result of read is sorted by name.
func compareTrees(
	ctx context.Context, read func(plumbing.Hash) ([]treeEntry, error), from, to plumbing.Hash,
	visit func(treeChange) error,
) error {
	c := treeComparison{ctx: ctx, read: read, most: maxCompared, cost: folderCost, visit: visit}
	return c.compare(from, to, "", 0)
}

// treeComparison is a comparison in progress.
type treeComparison struct {
	ctx   context.Context
	read  func(plumbing.Hash) ([]treeEntry, error)
	visit func(treeChange) error
	seen  int // entries, and folders at their cost
	most  int // limit of seen
	cost  int // of a folder, in entries
}

func (c *treeComparison) compare(from, to plumbing.Hash, dir string, depth int) error {
	switch {
	case from == to:
		return nil
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx)
	case depth > maxDepth:
		return errDeep
	}
	old, err := c.read(from)
	if err != nil {
		return err
	}
	now, err := c.read(to)
	if err != nil {
		return err
	}
	if c.seen += len(old) + len(now) + c.cost; c.seen > c.most {
		return fmt.Errorf("%w: more than %d files and folders", ErrTree, c.most)
	}
	for _, list := range [][]treeEntry{old, now} {
		slices.SortFunc(list, func(a, b treeEntry) int { return cmp.Compare(a.name, b.name) })
	}
	for len(old)+len(now) > 0 {
		var x, y treeEntry
		var order int
		switch {
		case len(now) == 0:
			order = -1
		case len(old) == 0:
			order = 1
		default:
			order = cmp.Compare(old[0].name, now[0].name)
		}
		if order <= 0 {
			x, old = old[0], old[1:]
		}
		if order >= 0 {
			y, now = now[0], now[1:]
		}
		if err := c.compareEntry(x, y, path.Join(dir, cmp.Or(x.name, y.name)), depth); err != nil {
			return err
		}
	}
	return nil
}

func (c *treeComparison) compareEntry(x, y treeEntry, p string, depth int) error {
	if x.sameAs(y) {
		return nil
	}
	var xTree, yTree plumbing.Hash
	if x.isDir() {
		xTree, x = x.id, treeEntry{}
	}
	if y.isDir() {
		yTree, y = y.id, treeEntry{}
	}
	if x != y {
		if err := c.visit(treeChange{p, x, y}); err != nil {
			return err
		}
	}
	return c.compare(xTree, yTree, p, depth+1)
}

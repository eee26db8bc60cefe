package gitops

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// treeEntry is one line of a tree.
type treeEntry struct {
	name string
	mode filemode.FileMode
	id   plumbing.Hash
}

func (e treeEntry) isDir() bool { return e.mode == filemode.Dir }

// Bounds of a tree. A few objects can stand for any number of files.
const (
	maxDepth     = 200      // of folders
	maxTreeFiles = 500_000  // and folders
	maxTreeBytes = 10 << 30 // written out
)

var (
	errDeep = fmt.Errorf("%w: folders nested deeper than %d", ErrTree, maxDepth)
	errMany = fmt.Errorf("%w: more than %d files and folders", ErrTree, maxTreeFiles)
)

// parseTree reads a tree object: "<octal mode> <name>\0<20 bytes>" per entry.
// Names that could leave a work tree or reach into .git are refused.
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

// safeName reports whether a file of this name may be in a tree.
func safeName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00") && !isDotGit(name)
}

// isDotGit reports whether some file system takes name for ".git"
// (CVE-2014-9390; git refuses the same in fsck).
func isDotGit(name string) bool {
	trimmed := strings.Map(func(c rune) rune {
		switch { // what HFS+ ignores
		case c >= 0x200c && c <= 0x200f, c >= 0x202a && c <= 0x202e, c >= 0x206a && c <= 0x206f, c == 0xfeff:
			return -1
		}
		return c
	}, name)
	trimmed, _, _ = strings.Cut(trimmed, ":") // a stream of NTFS
	trimmed = strings.TrimRight(trimmed, ". ")
	return strings.EqualFold(trimmed, ".git") || strings.EqualFold(trimmed, "git~1")
}

// portableName reports whether a new file may have this name. Names that were there before
// may be others: a backslash is a part of a name on Linux, and leads into folders, such as
// .git, on Windows.
func portableName(name string) bool { return safeName(name) && !strings.Contains(name, `\`) }

// encodeTree is parseTree's inverse; it sorts as git does, where a folder
// counts as if its name ended in a slash.
func encodeTree(entries []treeEntry) []byte {
	key := func(e treeEntry) string {
		if e.isDir() {
			return e.name + "/"
		}
		return e.name
	}
	sort.Slice(entries, func(i, j int) bool { return key(entries[i]) < key(entries[j]) })
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

// walkTree calls visit for all entries below a tree that are not folders, in the
// tree's order, with their paths.
func (o *packedObjects) walkTree(tree plumbing.Hash, dir string, visit func(path string, e treeEntry) error) error {
	met := 0
	return o.walkDepth(tree, dir, 0, &met, visit)
}

func (o *packedObjects) walkDepth(
	tree plumbing.Hash, dir string, depth int, met *int, visit func(string, treeEntry) error,
) error {
	if depth > maxDepth {
		return errDeep
	}
	entries, err := o.readTree(tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		p := path.Join(dir, e.name)
		if *met++; *met > maxTreeFiles {
			return errMany
		}
		if e.isDir() {
			err = o.walkDepth(e.id, p, depth+1, met, visit)
		} else {
			err = visit(p, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lookUp finds a path in a tree; found is false when it is not there. The empty
// path is the tree itself.
func (o *packedObjects) lookUp(tree plumbing.Hash, name string) (e treeEntry, found bool, err error) {
	e = treeEntry{mode: filemode.Dir, id: tree}
	if name == "" || name == "." {
		return e, true, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if !e.isDir() {
			return treeEntry{}, false, nil
		}
		entries, err := o.readTree(e.id)
		if err != nil {
			return treeEntry{}, false, err
		}
		found := false
		for _, n := range entries {
			if n.name == part {
				e, found = n, true
			}
		}
		if !found {
			return treeEntry{}, false, nil
		}
	}
	return e, true, nil
}

// treeChange is a path that differs between two trees. A side that lacks it is the
// zero entry.
type treeChange struct {
	path     string
	old, new treeEntry
}

const (
	// maxCompared bounds the entries that are looked at to compare two trees. A tree may hold
	// another many times over, and that one a third, so a few objects can be a tree without end.
	maxCompared = 1_000_000
	// folderCost is what a folder counts, in entries: it has to be read.
	folderCost = 10
)

// compareTrees lists what differs between two trees, in order of path; equal parts
// are not opened. Zero hashes are empty trees.
func (o *packedObjects) compareTrees(ctx context.Context, from, to plumbing.Hash) ([]treeChange, error) {
	c := treeComparison{ctx: ctx, objects: o}
	err := c.compareDir(from, to, "", 0)
	sort.Slice(c.out, func(i, j int) bool { return c.out[i].path < c.out[j].path })
	return c.out, err
}

// treeComparison is a comparison under way.
type treeComparison struct {
	ctx     context.Context
	objects *packedObjects
	seen    int // entries, and folders at their cost
	out     []treeChange
}

func (c *treeComparison) compareDir(from, to plumbing.Hash, dir string, depth int) error {
	if from == to {
		return nil
	}
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	if depth > maxDepth {
		return errDeep
	}
	a, err := c.objects.readTree(from)
	if err != nil {
		return err
	}
	b, err := c.objects.readTree(to)
	if err != nil {
		return err
	}
	if c.seen += len(a) + len(b) + folderCost; c.seen > maxCompared {
		return fmt.Errorf("%w: more than %d files and folders to compare", ErrTree, maxCompared)
	}
	old := make(map[string]treeEntry, len(a))
	for _, e := range a {
		old[e.name] = e
	}
	for _, y := range b {
		if err := c.compareEntry(old[y.name], y, path.Join(dir, y.name), depth); err != nil {
			return err
		}
		delete(old, y.name)
	}
	for _, x := range a {
		if _, gone := old[x.name]; gone {
			if err := c.compareEntry(x, treeEntry{}, path.Join(dir, x.name), depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *treeComparison) compareEntry(x, y treeEntry, p string, depth int) error {
	if x.id == y.id && x.mode == y.mode {
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
		c.out = append(c.out, treeChange{p, x, y})
	}
	return c.compareDir(xTree, yTree, p, depth+1)
}

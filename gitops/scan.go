package gitops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/sia-bot/sia/sia/gitignore"
)

// scan compares the work tree with the checkout and returns the changes, by path. A file with the recorded stat is not
// read. New files are hashed, not kept.
//
// It leaves out .git, files that .gitignore or [CacheOptions.Ignored] names unless they are tracked, changes recorded
// by [Workspace.LeaveChanges], anything other than a file or a symlink, and what [LeftOut] lists, such as changes of
// submodules. It never follows symlinks.
func (w *Workspace) scan(ctx context.Context) ([]treeChange, error) {
	b, err := os.ReadFile(filepath.Join(w.state, "index"))
	if err != nil {
		return nil, fmt.Errorf("read stat cache: %w", err)
	}
	entries, err := decodeIndex(b)
	if err != nil {
		return nil, fmt.Errorf("read stat cache: %w", err)
	}
	root, err := w.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	s := workScanner{ctx: ctx, tracked: make(map[string]*index.Entry, len(entries)), folders: map[string]bool{}}
	if written := w.written.Load(); written != nil {
		s.written = *written
	}
	for _, e := range entries {
		s.tracked[e.Name] = e
		// A file written in the last tick of the clock may have been written again in that tick, with the same stat.
		if e.CreatedAt.After(s.racy) {
			s.racy = e.CreatedAt
		}
		for d := path.Dir(e.Name); d != "." && !s.folders[d]; d = path.Dir(d) {
			s.folders[d] = true
		}
	}
	rules := folderRules{ignores: gitignore.Rules{}.With("", w.repo.cache.ignored)}
	if err := s.dir(root, "", rules, 0); err != nil {
		return nil, err
	}
	for _, e := range s.tracked { // the remaining entries were not found
		if e.Mode == filemode.Submodule {
			s.leftOut.Repositories = append(s.leftOut.Repositories, e.Name)
			continue
		}
		s.out = append(s.out, treeChange{path: e.Name, old: treeEntry{path.Base(e.Name), e.Mode, e.Hash}})
	}
	for _, paths := range [][]string{s.leftOut.Repositories, s.leftOut.Built, s.leftOut.Filtered, s.leftOut.Ignored,
		s.leftOut.Misnamed} {
		slices.Sort(paths)
	}
	out, err := w.withoutLeft(mergeChanges(s.out), &s.leftOut)
	w.leftOut.Store(&s.leftOut)
	return out, err
}

// open opens the directory, if it is still the one of the checkout: files missing from another folder were not deleted
// by the agent.
func (w *Workspace) open() (*os.Root, error) {
	root, err := os.OpenRoot(w.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: it is not there any more", ErrTree)
	}
	if err != nil {
		return nil, err
	}
	s, known := w.known()
	st, err := root.Stat(".")
	if linked, lerr := os.Lstat(w.dir); err == nil && (lerr != nil || !known || !os.SameFile(st, linked) ||
		s.Inode != statOf(st).Inode) {
		err = fmt.Errorf("%w: another folder is in its place", ErrTree)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// mergeChanges sorts changes by path, and joins the two changes of a path that changed its kind.
func mergeChanges(all []treeChange) []treeChange {
	sort.Slice(all, func(i, j int) bool { return all[i].path < all[j].path })
	out := all[:0]
	for _, c := range all {
		if n := len(out); n > 0 && out[n-1].path == c.path {
			if c.old.mode != filemode.Empty {
				out[n-1].old = c.old
			} else {
				out[n-1].new = c.new
			}
			continue
		}
		out = append(out, c)
	}
	return out
}

type workScanner struct {
	ctx     context.Context
	tracked map[string]*index.Entry // entries are removed as they are found
	folders map[string]bool         // with tracked files in them
	written map[string]bool         // files of KeepWritten
	racy    time.Time               // entries changed at this time or later are read
	out     []treeChange
	leftOut LeftOut
	met     int
}

// folderRules are the rules in a folder and its parents for the files of the folder.
type folderRules struct {
	ignores gitignore.Rules
	filters filters
	hidden  bool // the folder is ignored, and only tracked files count
}

// maxScanned bounds the files and folders of a work tree that are scanned.
const maxScanned = 1_000_000

// dir scans one folder, with its parent's rules.
func (s *workScanner) dir(root *os.Root, dir string, rules folderRules, depth int) error {
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	if depth > maxDepth {
		return fmt.Errorf("%w: %s…", errDeep, cleanText(dir, 80))
	}
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	entries, err := f.ReadDir(-1)
	f.Close()
	if err != nil {
		return err
	}
	for _, e := range entries {
		isIgnore := e.Name() == ".gitignore" && !rules.hidden
		if !e.Type().IsRegular() || !isIgnore && e.Name() != ".gitattributes" {
			continue
		}
		b, err := readSmall(root, e.Name(), gitignore.MaxFile)
		switch {
		case err != nil:
		case isIgnore:
			rules.ignores = rules.ignores.With(dir, b)
		default:
			rules.filters = rules.filters.with(dir, b)
		}
	}
	for _, e := range entries {
		if s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
		if s.met++; s.met > maxScanned {
			return fmt.Errorf("%w: more than %d files and folders", ErrTree, maxScanned)
		}
		if !safeName(e.Name()) {
			continue
		}
		if err := s.entry(root, path.Join(dir, e.Name()), e, rules, depth); err != nil &&
			!errors.Is(err, fs.ErrNotExist) { // it was removed after the folder was listed
			if errors.Is(err, fs.ErrPermission) {
				err = fmt.Errorf("%w: %s can't be read", ErrTree, cleanText(path.Join(dir, e.Name()), 200))
			}
			return err
		}
	}
	return nil
}

func (s *workScanner) entry(root *os.Root, p string, e fs.DirEntry, rules folderRules, depth int) error {
	old := s.tracked[p]
	if old != nil && old.Mode == filemode.Submodule {
		if isEmpty(root, e) { // as it was checked out
			delete(s.tracked, p)
		}
		return nil
	}
	ignored := rules.hidden || old == nil && rules.ignores.Ignore(p, e.IsDir())
	if old == nil && !ignored && !s.folders[p] && !portableName(e.Name()) {
		s.leftOut.Misnamed = append(s.leftOut.Misnamed, p)
		return nil
	}
	if e.IsDir() {
		rules.hidden = ignored
		if ignored && !s.folders[p] {
			s.leftOut.Ignored = append(s.leftOut.Ignored, s.writtenIn(p)...)
			return nil
		}
		sub, err := root.OpenRoot(e.Name())
		if err != nil {
			return err
		}
		defer sub.Close()
		if !s.folders[p] {
			if _, err := sub.Lstat(".git"); err == nil {
				s.leftOut.Repositories = append(s.leftOut.Repositories, p)
				return nil
			}
			if isOutput(root, sub, e.Name()) && len(s.writtenIn(p)) == 0 {
				s.leftOut.Built = append(s.leftOut.Built, p)
				return nil
			}
		}
		return s.dir(sub, p, rules, depth+1)
	}
	switch {
	case !e.Type().IsRegular() && e.Type()&fs.ModeSymlink == 0:
		return nil
	case old == nil && ignored:
		if s.written[p] {
			s.leftOut.Ignored = append(s.leftOut.Ignored, p)
		}
		return nil
	}
	st, err := root.Lstat(e.Name())
	if err != nil {
		return err
	}
	now := statOf(st)
	mode := gitMode(st.Mode())
	if old != nil && mode == sameKind(old.Mode) && sameStat(now, *old) && now.CreatedAt.Before(s.racy) {
		delete(s.tracked, p)
		return nil
	}
	id, err := hashFile(s.ctx, root, e.Name(), mode)
	if err != nil {
		return fmt.Errorf("read %s: %w", cleanText(p, 200), err)
	}
	delete(s.tracked, p)
	if old != nil && old.Hash == id && mode == sameKind(old.Mode) {
		return nil
	}
	if left, err := s.leaves(root, p, old, mode, rules.filters); err != nil || left {
		return err
	}
	c := treeChange{path: p, new: treeEntry{path.Base(p), mode, id}}
	if old != nil {
		c.old = treeEntry{c.new.name, old.Mode, old.Hash}
	}
	s.out = append(s.out, c)
	return nil
}

// isEmpty reports whether an entry of a folder is an empty folder.
func isEmpty(in *os.Root, e fs.DirEntry) bool {
	if !e.IsDir() {
		return false
	}
	f, err := in.Open(e.Name())
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// leaves reports whether a changed file is left out because of its content.
func (s *workScanner) leaves(
	root *os.Root, p string, old *index.Entry, mode filemode.FileMode, rules filters,
) (bool, error) {
	mayBeBuilt, filtered := old == nil && !s.written[p], rules.gives(p)
	if mode == filemode.Symlink || !mayBeBuilt && !filtered {
		return false, nil
	}
	start, err := readStart(root, path.Base(p))
	switch {
	case err != nil:
		return false, err
	case filtered && !isFiltered(start):
		s.leftOut.Filtered = append(s.leftOut.Filtered, p)
		return true, nil
	case mayBeBuilt && isObject(p, start):
		s.leftOut.Built = append(s.leftOut.Built, p)
		return true, nil
	}
	return false, nil
}

// gitMode converts the mode of a file or symlink to git's.
func gitMode(m fs.FileMode) filemode.FileMode {
	switch {
	case m&fs.ModeSymlink != 0:
		return filemode.Symlink
	case m&0o100 != 0:
		return filemode.Executable
	default:
		return filemode.Regular
	}
}

// sameKind converts a recorded mode to one that gitMode returns.
func sameKind(m filemode.FileMode) filemode.FileMode {
	if m == filemode.Deprecated {
		return filemode.Regular
	}
	return m
}

// openFile opens a regular file, or the name of a symlink's target. It follows no symlink that replaced the file in the
// meantime, and opens no special file that would block: the open file is compared with the earlier stat.
func openFile(root *os.Root, name string, mode filemode.FileMode) (io.ReadCloser, int64, error) {
	if mode == filemode.Symlink {
		target, err := root.Readlink(name)
		if err != nil {
			return nil, 0, err
		}
		return io.NopCloser(strings.NewReader(target)), int64(len(target)), nil
	}
	before, err := root.Lstat(name)
	if err != nil {
		return nil, 0, err
	}
	if !before.Mode().IsRegular() {
		return nil, 0, errChanged
	}
	f, err := root.OpenFile(name, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err != nil || !os.SameFile(before, st) || !st.Mode().IsRegular() {
		f.Close()
		return nil, 0, errors.Join(errChanged, err)
	}
	return f, st.Size(), nil
}

// errChanged reports that a file was changed while it was being read.
var errChanged = errors.New("file changed while it was read")

func hashFile(ctx context.Context, root *os.Root, name string, mode filemode.FileMode) (plumbing.Hash, error) {
	for try := 1; ; try++ {
		id, err := hashOnce(ctx, root, name, mode)
		if try == maxTries || !errors.Is(err, errChanged) {
			return id, err
		}
	}
}

func hashOnce(ctx context.Context, root *os.Root, name string, mode filemode.FileMode) (plumbing.Hash, error) {
	in, size, err := openFile(root, name, mode)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	defer in.Close()
	sum := newHasher(plumbing.BlobObject, size)
	n, err := io.Copy(sum, io.LimitReader(cancelled{ctx, in}, size+1))
	if err == nil && n != size {
		err = errChanged
	}
	return sum.sum(), err
}

// readSmall reads a regular file of at most limit bytes.
func readSmall(root *os.Root, name string, limit int64) ([]byte, error) {
	in, size, err := openFile(root, name, filemode.Regular)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if size > limit {
		return nil, ErrTooLarge
	}
	return io.ReadAll(io.LimitReader(in, limit))
}

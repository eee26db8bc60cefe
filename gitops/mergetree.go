package gitops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// maxMergedText bounds the total size of the files that one merge merges, in bytes: they are held in memory.
const maxMergedText = 256 << 20

// treeMerge is a merge of trees in progress.
type treeMerge struct {
	ctx          context.Context
	objects      *packedObjects
	labels       MergeLabels
	ours, theirs *treeFolders
	// Changes since base, by path. Renames that were handled are removed.
	byOurs, byTheirs map[string]treeChange

	edits     treeEdits // of ours
	conflicts map[string]ConflictKind
	blobs     []newObject
	text      int // bytes of blobs
}

// mergeTrees finds the edits of the tree of ours that add the changes of theirs.
func mergeTrees(
	ctx context.Context, o *packedObjects, base, ours, theirs plumbing.Hash, labels MergeLabels,
) (*treeMerge, error) {
	m := &treeMerge{ctx: ctx, objects: o, labels: labels, ours: newTreeFolders(o, ours), theirs: newTreeFolders(o, theirs),
		edits: treeEdits{}, conflicts: map[string]ConflictKind{}}
	byOurs, err := o.compareTrees(ctx, base, ours)
	if err != nil {
		return nil, err
	}
	byTheirs, err := o.compareTrees(ctx, base, theirs)
	if err != nil {
		return nil, err
	}
	m.byOurs, m.byTheirs = changesByPath(byOurs), changesByPath(byTheirs)
	if err := m.followRenames(byOurs, byTheirs); err != nil {
		return nil, err
	}
	for _, p := range slices.Sorted(maps.Keys(m.byTheirs)) {
		t := m.byTheirs[p]
		inOurs := t.old
		if c, both := m.byOurs[p]; both {
			inOurs = c.new
		}
		if err := m.mergeEntry(p, t.old, inOurs, t.new); err != nil {
			return nil, err
		}
	}
	return m, m.dropClashes()
}

func changesByPath(changes []treeChange) map[string]treeChange {
	by := make(map[string]treeChange, len(changes))
	for _, c := range changes {
		by[c.path] = c
	}
	return by
}

// followRenames merges the files that one side renamed and the other changed. Any other rename is a removal and an
// addition.
func (m *treeMerge) followRenames(byOurs, byTheirs []treeChange) error {
	open := m.objects.openToCompare
	inOurs, err := pairRenames(m.ctx, byOurs, open, open)
	if err != nil {
		return err
	}
	inTheirs, err := pairRenames(m.ctx, byTheirs, open, open)
	if err != nil {
		return err
	}
	for _, f := range inOurs {
		c, follows, err := m.theirs.follows(f, m.byTheirs)
		if err != nil {
			return err
		}
		if !follows {
			continue
		}
		if err := m.mergeEntry(f.Path, f.old, f.new, c.new); err != nil {
			return err
		}
		delete(m.byTheirs, f.OldPath)
	}
	for _, f := range inTheirs {
		c, follows, err := m.ours.follows(f, m.byOurs)
		if err != nil {
			return err
		}
		if !follows {
			continue
		}
		if err := m.mergeEntry(f.Path, f.old, c.new, f.new); err != nil {
			return err
		}
		m.edits[f.OldPath] = treeEntry{}
		delete(m.byTheirs, f.OldPath)
		delete(m.byTheirs, f.Path)
	}
	return nil
}

// mergeEntry merges the two sides of one file. An entry without mode is an absent file.
func (m *treeMerge) mergeEntry(p string, base, ours, theirs treeEntry) error {
	if m.ctx.Err() != nil {
		return context.Cause(m.ctx)
	}
	merged, kind := ours, ConflictKind("")
	switch {
	case ours.sameAs(theirs), theirs.sameAs(base):
	case ours.sameAs(base):
		merged = theirs
	case ours.mode == filemode.Empty:
		merged, kind = theirs, ConflictDeletedByUs
	case theirs.mode == filemode.Empty:
		kind = ConflictDeletedByThem
	case kindOfMode(ours.mode) != kindOfMode(theirs.mode):
		kind = ConflictType
	case ours.mode == filemode.Symlink:
		kind = ConflictSymlink
	case ours.mode == filemode.Submodule:
		kind = ConflictSubmodule
	default:
		var err error
		if merged, kind, err = m.mergeFile(base, ours, theirs); err != nil {
			return fmt.Errorf("merge %s: %w", cleanText(p, 200), err)
		}
	}
	if kind != "" {
		m.conflicts[p] = kind
	}
	has, err := m.ours.entry(p)
	if err != nil {
		return err
	}
	if has.isDir() {
		has = treeEntry{}
	}
	if !merged.sameAs(has) {
		m.edits[p] = merged
	}
	return nil
}

// mergeFile merges the mode and the content of a regular file that both sides changed.
func (m *treeMerge) mergeFile(base, ours, theirs treeEntry) (merged treeEntry, kind ConflictKind, err error) {
	if !isRegular(base.mode) {
		base = treeEntry{mode: base.mode} // of another kind, or absent: the base has no content to compare
	}
	merged = ours
	switch {
	case ours.mode == base.mode:
		merged.mode = theirs.mode
	case theirs.mode != base.mode && theirs.mode != ours.mode:
		kind = ConflictMode
	}
	switch {
	case ours.id == theirs.id, theirs.id == base.id:
		return merged, kind, nil
	case ours.id == base.id:
		merged.id = theirs.id
		return merged, kind, nil
	}
	var texts [3][]byte
	for i, e := range []treeEntry{base, ours, theirs} {
		if e.id.IsZero() {
			continue
		}
		b, binary, large, err := readText(e, m.objects.openToCompare)
		switch {
		case err != nil:
			return treeEntry{}, "", err
		case binary:
			return merged, ConflictBinary, nil
		case large || m.text+len(b) > maxMergedText:
			return merged, ConflictTooLarge, nil
		}
		texts[i] = b
	}
	text, clean := mergeText(texts[0], texts[1], texts[2], m.labels)
	switch {
	case clean:
	case base.mode == filemode.Empty:
		kind = ConflictAdded
	default:
		kind = ConflictContent
	}
	blob := inMemory(plumbing.BlobObject, text)
	merged.id = blob.id
	m.text += len(text)
	m.blobs = append(m.blobs, blob)
	return merged, kind, nil
}

// dropClashes drops edits that would put a file where ours has a folder, or below a file of ours: ours is kept.
func (m *treeMerge) dropClashes() error {
	paths := slices.Sorted(maps.Keys(m.edits))
	for _, p := range paths {
		kept, err := m.keepsFolder(p)
		if err != nil {
			return err
		}
		if kept && m.edits[p].mode != filemode.Empty {
			m.keepOurs(p, p)
		}
	}
	for _, p := range paths {
		file, err := m.ours.blockedBy(p, m.edits)
		if err != nil {
			return err
		}
		if file != "" && m.edits[p].mode != filemode.Empty {
			m.keepOurs(p, file)
		}
	}
	return nil
}

// keepOurs keeps a path of ours, because of a file and a folder at clash.
func (m *treeMerge) keepOurs(p, clash string) {
	delete(m.edits, p)
	delete(m.conflicts, p)
	m.conflicts[clash] = ConflictFileFolder
}

// errFound ends a walk early.
var errFound = errors.New("found")

// keepsFolder reports whether ours has a folder with files at a path after the edits.
func (m *treeMerge) keepsFolder(p string) (bool, error) {
	e, err := m.ours.entry(p)
	if err != nil || !e.isDir() {
		return false, err
	}
	err = walkTree(m.ctx, m.objects.readTree, e.id, p, func(file string, _ treeEntry) error {
		if edit, edited := m.edits[file]; !edited || edit.mode != filemode.Empty {
			return errFound
		}
		return nil
	})
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

// follows reports whether one side renamed a file and the other side's change can be applied to the new path. This
// requires that exactly one side renamed the file.
func (t *treeFolders) follows(f comparison, changes map[string]treeChange) (c treeChange, ok bool, err error) {
	c, ok = changes[f.OldPath]
	if !ok || f.Status != FileRenamed || c.new.mode == filemode.Empty ||
		kindOfMode(c.new.mode) != kindOfMode(f.new.mode) || isEmptyFile(f.old) {
		return c, false, nil
	}
	ok, err = t.isFree(f.Path, f.OldPath)
	return c, ok, err
}

// isEmptyFile reports whether a file is empty. Empty files are all equal, so they are not paired as renames.
func isEmptyFile(e treeEntry) bool { return e.id == objectID(plumbing.BlobObject, nil) }

// isFree reports whether a file can move to a path: nothing is there, and no other file is where it needs a folder.
func (t *treeFolders) isFree(p, from string) (bool, error) {
	if e, err := t.entry(p); err != nil || e.mode != filemode.Empty {
		return false, err
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		e, err := t.entry(dir)
		if err != nil {
			return false, err
		}
		if e.mode != filemode.Empty && dir != from {
			return e.isDir(), nil
		}
	}
	return true, nil
}

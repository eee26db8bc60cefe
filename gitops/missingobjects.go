package gitops

import (
	"bytes"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// missingObjects finds the objects of trees that other trees lack: those to pack or send to somebody who has the
// others.
type missingObjects struct {
	readTree func(plumbing.Hash) ([]treeEntry, error)
	others   []plumbing.Hash
	// had holds the objects of the others wherever the trees differ, so it also has those that were moved from there.
	had      map[plumbing.Hash]bool
	read     map[plumbing.Hash]bool // trees of the others, read with everything below them
	compared map[plumbing.Hash]bool
	found    map[plumbing.Hash]bool
}

func newMissingObjects(others []plumbing.Hash, readTree func(plumbing.Hash) ([]treeEntry, error)) *missingObjects {
	return &missingObjects{readTree: readTree, others: others, had: map[plumbing.Hash]bool{},
		read: map[plumbing.Hash]bool{}, compared: map[plumbing.Hash]bool{}, found: map[plumbing.Hash]bool{}}
}

// find calls add for each object of a tree that the others lack and that was not found before.
func (b *missingObjects) find(tree plumbing.Hash, add func(plumbing.Hash, plumbing.ObjectType)) error {
	if err := b.compare(b.others, tree); err != nil {
		return err
	}
	return b.list(tree, add)
}

// compare records the objects of the others where they differ from a tree.
func (b *missingObjects) compare(others []plumbing.Hash, tree plumbing.Hash) error {
	if slices.Contains(others, tree) {
		b.had[tree] = true
		others = slices.DeleteFunc(slices.Clone(others), func(h plumbing.Hash) bool { return h == tree })
	}
	if len(others) == 0 || b.compared[tree] {
		return nil
	}
	b.compared[tree] = true
	entries, err := b.readTree(tree)
	if err != nil {
		return err
	}
	folders := map[string]plumbing.Hash{}
	for _, e := range entries {
		if e.isDir() {
			folders[e.name] = e.id
		}
	}
	below := map[string][]plumbing.Hash{}
	for _, other := range others {
		b.had[other] = true
		entries, err := b.readTree(other)
		if err != nil {
			return err
		}
		for _, e := range entries {
			b.had[e.id] = true
			if !e.isDir() {
				continue
			}
			if _, ok := folders[e.name]; ok {
				below[e.name] = append(below[e.name], e.id)
			} else if err := b.readAll(e.id); err != nil {
				return err
			}
		}
	}
	for name, others := range below {
		if err := b.compare(others, folders[name]); err != nil {
			return err
		}
	}
	return nil
}

// readAll records a tree of the others with everything below it.
func (b *missingObjects) readAll(tree plumbing.Hash) error {
	if b.read[tree] {
		return nil
	}
	b.read[tree] = true
	entries, err := b.readTree(tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		b.had[e.id] = true
		if e.isDir() {
			if err := b.readAll(e.id); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *missingObjects) list(tree plumbing.Hash, add func(plumbing.Hash, plumbing.ObjectType)) error {
	if b.had[tree] || b.found[tree] {
		return nil
	}
	b.found[tree] = true
	add(tree, plumbing.TreeObject)
	entries, err := b.readTree(tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.mode == filemode.Submodule, b.had[e.id], b.found[e.id]:
		case e.isDir():
			if err := b.list(e.id, add); err != nil {
				return err
			}
		default:
			b.found[e.id] = true
			add(e.id, plumbing.BlobObject)
		}
	}
	return nil
}

// packable returns an object of the mirror for a pack.
func (o *packedObjects) packable(id plumbing.Hash, kind plumbing.ObjectType) newObject {
	return newObject{id, kind, func() (io.ReadCloser, int64, error) {
		if kind == plumbing.BlobObject {
			return o.openBlob(id)
		}
		b, err := o.readObject(id, kind)
		if err != nil {
			return nil, 0, err
		}
		return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
	}}
}

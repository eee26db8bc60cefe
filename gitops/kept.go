package gitops

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// PackedCommit is a commit made here, for a mirror elsewhere.
type PackedCommit struct {
	SHA  string
	Pack []byte // a pack file, version 2, with everything that its parents lack; nil: larger than the limit
}

// PackMade packs a commit and its ancestors that were made here, up to the commits known, each after its parents. It
// returns nothing if the commit was not made here. Packs of more than most bytes are left out. The result is for
// [CacheOptions.Kept].
func (r *Repo) PackMade(ctx context.Context, sha string, most int, known ...string) (out []PackedCommit, err error) {
	err = r.viewCommit(ctx, "pack commits", sha, func(o *packedObjects, h plumbing.Hash) error {
		out = nil
		return o.eachMade(h, known, func(c *object.Commit) error {
			pack, err := o.packOf(c.Hash, most)
			if err == nil {
				out = append(out, PackedCommit{SHA: c.Hash.String(), Pack: pack})
			}
			return err
		})
	})
	return out, err
}

// eachMade calls visit for a commit and its ancestors that were made here, up to the commits known, each after its
// parents.
func (o *packedObjects) eachMade(h plumbing.Hash, known []string, visit func(*object.Commit) error) error {
	seen := map[plumbing.Hash]bool{}
	var walk func(h plumbing.Hash) error
	walk = func(h plumbing.Hash) error {
		if seen[h] || slices.Contains(known, h.String()) || !o.from.isMarked("made", h) {
			return nil
		}
		seen[h] = true
		c, err := o.readCommit(h)
		if err != nil {
			return err
		}
		for _, p := range c.ParentHashes {
			if err := walk(p); err != nil {
				return err
			}
		}
		return visit(c)
	}
	return walk(h)
}

// packOf packs a commit with everything that its parents lack; nil when that is larger than most.
func (o *packedObjects) packOf(c plumbing.Hash, most int) ([]byte, error) {
	objs, err := o.ownObjects(c)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	_, _, err = writePack(&limitedWriter{&out, int64(most)}, objs)
	if errors.Is(err, ErrTooLarge) {
		return nil, nil
	}
	return out.Bytes(), err
}

// ownObjects lists a commit and everything that its parents lack.
func (o *packedObjects) ownObjects(commit plumbing.Hash) ([]newObject, error) {
	c, err := o.readCommit(commit)
	if err != nil {
		return nil, err
	}
	parents, err := o.treesOf(c.ParentHashes)
	if err != nil {
		return nil, err
	}
	return o.withObjects(c, newMissingObjects(parents, o.readTree))
}

// presentObjects lists a commit and everything that the mirror has of it: if its parents are gone, that includes
// everything that they lack.
func (o *packedObjects) presentObjects(commit plumbing.Hash) ([]newObject, error) {
	c, err := o.readCommit(commit)
	if err != nil {
		return nil, err
	}
	present := newMissingObjects(nil, func(tree plumbing.Hash) ([]treeEntry, error) {
		entries, err := o.readTree(tree)
		return slices.DeleteFunc(entries, func(e treeEntry) bool { return !o.hasObject(e.id) }), err
	})
	present.had[c.TreeHash] = !o.hasObject(c.TreeHash)
	return o.withObjects(c, present)
}

// withObjects lists a commit and the objects of its tree that are found.
func (o *packedObjects) withObjects(c *object.Commit, find *missingObjects) ([]newObject, error) {
	objs := []newObject{o.packable(c.Hash, plumbing.CommitObject)}
	err := find.find(c.TreeHash, func(id plumbing.Hash, kind plumbing.ObjectType) {
		objs = append(objs, o.packable(id, kind))
	})
	return objs, err
}

// takeKept adds a commit from [CacheOptions.Kept] to the mirror and reports whether there was one.
func (m *mirror) takeKept(ctx context.Context, want plumbing.Hash) (taken bool, err error) {
	if m.cache.kept == nil {
		return false, nil
	}
	pack, err := m.cache.kept(ctx, m.key, want.String())
	if err != nil || pack == nil {
		return false, err
	}
	unlock, err := m.lock(ctx, fetchLock)
	if err != nil {
		return false, err
	}
	defer unlock()
	x, err := unpack(ctx, m.cache.tmp(), bytes.NewReader(pack), want, packLimits{}) // its hashes prove that it is complete
	if err != nil {                                                                 // the server may have it
		m.cache.log.WarnContext(ctx, "kept commit can't be used", "mirror", m.key, "commit", want, "error", err)
		return false, nil
	}
	defer x.remove()
	return true, m.install(ctx, x, "made", nil, want)
}

package gitops

import (
	"context"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// Merged is the outcome of a merge.
type Merged struct {
	SHA       string
	Conflicts []Conflict // by path; none: it is a clean merge
}

// Conflict is a path of the merged commit on which the two sides disagree.
type Conflict struct {
	Path string
	Kind ConflictKind
}

// ConflictKind describes to people how the sides disagree; "here" is ours and "there" is theirs.
type ConflictKind string

// The kinds of conflicts. In the first two, the file holds both sides between conflict markers. If one side deleted a
// file, the other side's version is kept. Otherwise ours is kept.
const (
	ConflictContent       ConflictKind = "both sides changed the same lines" // or neighbouring ones
	ConflictAdded         ConflictKind = "both sides added the file, with different content"
	ConflictDeletedByUs   ConflictKind = "deleted here, changed there"
	ConflictDeletedByThem ConflictKind = "deleted there, changed here"
	ConflictBinary        ConflictKind = "both sides changed the file, and it is binary"
	// also when the merged files are too large together
	ConflictTooLarge   ConflictKind = "both sides changed the file, and it is too large to be merged"
	ConflictMode       ConflictKind = "both sides changed the file's mode"
	ConflictType       ConflictKind = "the two sides made different things of it: a file, a symlink or a submodule"
	ConflictSymlink    ConflictKind = "both sides changed where the symlink points"
	ConflictSubmodule  ConflictKind = "both sides changed the submodule's commit"
	ConflictFileFolder ConflictKind = "a file on one side, a folder on the other"
)

// Merge merges theirs into ours: the changes from base to theirs are applied to ours. It compares three trees and walks
// no history, so base may be any common ancestor; the nearest gives the fewest conflicts. Commits that the mirror lacks
// are fetched.
//
// It makes a commit in the mirror, unpushed, with the parents ours and theirs; the spec's Parents are ignored. Where
// both sides changed the same lines, the commit's file holds both, between conflict markers, and Conflicts names it.
// When theirs is base or ours, there is nothing to merge and the result is ours.
//
// A change of one side is applied to the new path of a file that the other side renamed. Symlinks, submodules, binary
// files and files of more than 4 MiB are taken whole, from the side that changed them.
func (r *Repo) Merge(
	ctx context.Context, base, ours, theirs string, s CommitSpec, labels MergeLabels,
) (m Merged, err error) {
	s.Parents = []string{ours, theirs}
	err = r.viewCommits(ctx, "merge", []string{base, ours, theirs}, func(o *packedObjects, at []plumbing.Hash) error {
		m = Merged{SHA: at[1].String()}
		if at[2] == at[0] || at[2] == at[1] {
			return nil
		}
		trees, err := o.treesOf(at)
		if err != nil {
			return err
		}
		t, err := mergeTrees(ctx, o, trees[0], trees[1], trees[2], labels)
		if err != nil {
			return err
		}
		for _, p := range slices.Sorted(maps.Keys(t.conflicts)) {
			m.Conflicts = append(m.Conflicts, Conflict{p, t.conflicts[p]})
		}
		m.SHA, err = r.mirror.makeCommit(ctx, o, at[1], t.edits, t.blobs, s)
		return err
	})
	if err != nil {
		return Merged{}, err
	}
	return m, nil
}

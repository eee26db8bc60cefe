package gitops

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// Push moves the branch to sha. expect is the head that it replaces, "" when the branch must not exist; if the branch
// is elsewhere, it returns a [*LeaseError] and nothing changes. Replacing a head that is not an ancestor is allowed:
// the lease protects it. A branch already at sha is left alone, so a push may be repeated after a crash.
//
// Only objects made here are sent. The server has the fetched ones.
func (r *Repo) Push(ctx context.Context, branch, sha, expect string) error {
	op := "push " + cleanText(branch, 80)
	if r.bad != nil {
		return fmt.Errorf("%s: %w", op, r.bad)
	}
	ref, err := branchRef(branch)
	if err != nil {
		return err
	}
	var want plumbing.Hash
	if expect != "" {
		if want, err = parseSHA(expect); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	at, err := r.client.discoverRefs(ctx, op, ref)
	if err != nil {
		return err
	}
	if !at.head.IsZero() && at.head.String() == sha {
		return nil
	}
	if at.head != want {
		return &LeaseError{Branch: branch, Want: expect, Head: shaOrNone(at.head)}
	}
	return r.viewCommit(ctx, op, sha, func(o *packedObjects, h plumbing.Hash) error {
		objs, err := o.unsentObjects(h, at.has)
		if err != nil {
			return err
		}
		if err = r.client.sendPack(ctx, op, at, refUpdate{ref: ref, old: want, new: h}, objs); err != nil {
			err = r.pushFailed(ctx, branch, sha, expect, err)
		}
		return err
	})
}

// pushFailed decides the result of a push without a good answer. It asks for the branch's head: a push may have
// succeeded though its answer was lost, and a refusal may mean that somebody else pushed first.
func (r *Repo) pushFailed(ctx context.Context, branch, sha, expect string, err error) error {
	var broke *NetworkError
	var server *ServerError
	var refused *RejectedError
	if !errors.As(err, &broke) && !errors.As(err, &server) && !errors.As(err, &refused) {
		return err
	}
	head, herr := r.Head(ctx, branch)
	switch {
	case herr == nil && head == sha:
		return nil
	case herr == nil && head != expect:
		return &LeaseError{Branch: branch, Want: expect, Head: head}
	}
	return err
}

func shaOrNone(h plumbing.Hash) string {
	if h.IsZero() {
		return ""
	}
	return h.String()
}

// unsentObjects lists the objects of a commit that the server lacks. They are those of commits made here, back to
// commits that the server advertised or sent.
func (o *packedObjects) unsentObjects(head plumbing.Hash, has func(plumbing.Hash) bool) ([]newObject, error) {
	var out []newObject
	var unsent, sent []plumbing.Hash
	seen := map[plumbing.Hash]bool{}
	for queue := []plumbing.Hash{head}; len(queue) > 0; {
		h := queue[0]
		queue = queue[1:]
		if seen[h] {
			continue
		}
		seen[h] = true
		c, err := o.readCommit(h)
		if err != nil {
			return nil, err
		}
		if has(h) || o.from.isMarked("fetched", h) || !o.from.isMarked("made", h) {
			sent = append(sent, c.TreeHash)
			continue
		}
		out = append(out, o.packable(h, plumbing.CommitObject))
		unsent = append(unsent, c.TreeHash)
		queue = append(queue, c.ParentHashes...)
	}
	lacks := newMissingObjects(sent, o.readTree)
	for _, tree := range unsent {
		err := lacks.find(tree, func(id plumbing.Hash, kind plumbing.ObjectType) { out = append(out, o.packable(id, kind)) })
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

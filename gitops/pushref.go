package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/go-git/go-git/v5/plumbing"
)

// ownRef matches the full name of a ref that is neither a branch nor a tag. GitHub accepts such refs from everybody
// with write access to contents, except for its own namespaces, such as refs/pull, and requires at least two slashes;
// gittuf stores its log of a repository in refs/gittuf.
// https://docs.github.com/en/rest/git/refs#create-a-reference
// https://github.com/gittuf/gittuf/pull/364
var ownRef = regexp.MustCompile(`^refs/sia/[a-z]+/[0-9A-Za-z_-]{1,100}$`)

// PushRef moves one of SIA's own refs, refs/sia/…, to sha, from wherever it was, so that the server has the commit and
// no branch moves. Only objects made here are sent. If the server refuses while the ref is moved by another push, it is
// pushed once more.
func (r *Repo) PushRef(ctx context.Context, ref, sha string) error {
	op := "push " + cleanText(ref, 120)
	before, err := r.pushOwnRef(ctx, op, ref, sha)
	var refused *RejectedError
	if !errors.As(err, &refused) {
		return err
	}
	if now, lookErr := r.discoverOwnRef(ctx, op, ref); lookErr != nil || now.head == before {
		return err
	}
	_, err = r.pushOwnRef(ctx, op, ref, sha)
	return err
}

// pushOwnRef pushes to a ref and returns where it was.
func (r *Repo) pushOwnRef(ctx context.Context, op, ref, sha string) (before plumbing.Hash, err error) {
	at, err := r.discoverOwnRef(ctx, op, ref)
	if err != nil || at.head.String() == sha {
		return at.head, err
	}
	return at.head, r.viewCommit(ctx, op, sha, func(o *packedObjects, h plumbing.Hash) error {
		objs, err := o.unsentObjects(h, at.has)
		if err != nil {
			return err
		}
		return r.client.sendPack(ctx, op, at, refUpdate{ref: ref, old: at.head, new: h}, objs)
	})
}

// DropRef deletes one of SIA's own refs. An absent ref is no error.
func (r *Repo) DropRef(ctx context.Context, ref string) error {
	op := "delete " + cleanText(ref, 120)
	at, err := r.discoverOwnRef(ctx, op, ref)
	if err != nil || at.head.IsZero() {
		return err
	}
	// An update that only deletes has no pack.
	return r.client.sendUpdate(ctx, op, at, refUpdate{ref: ref, old: at.head}, bytes.NewReader(nil), 0)
}

func (r *Repo) discoverOwnRef(ctx context.Context, op, ref string) (at refAdvertisement, err error) {
	if r.bad != nil {
		return at, fmt.Errorf("%s: %w", op, r.bad)
	}
	if !ownRef.MatchString(ref) {
		return at, fmt.Errorf("%s: it is not a ref of SIA's own", op)
	}
	return r.client.discoverRefs(ctx, op, ref)
}

package gitops

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"
)

// OnTop makes a commit with the files of sha, and with head and sha as its parents: a branch that can't be reset from
// head to sha moves forward to it. The spec's Parents are ignored.
func (r *Repo) OnTop(ctx context.Context, sha, head string, s CommitSpec) (over string, err error) {
	s.Parents = []string{head, sha}
	err = r.viewCommits(ctx, "replace "+head, []string{sha, head}, func(o *packedObjects, at []plumbing.Hash) error {
		over, err = r.mirror.makeCommit(ctx, o, at[0], treeEdits{}, nil, s)
		return err
	})
	return over, err
}

package gitops

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"
)

// OnTop makes a commit with the files and the message of sha on top of head: a branch that can't be reset from head to
// sha moves forward to it. Its only parent is head, because a rule may forbid merge commits; with merge, sha is the
// second one, so that the branch gets the ancestors that only sha has. The spec's Message, Trailers and Parents are
// ignored.
func (r *Repo) OnTop(ctx context.Context, sha, head string, merge bool, s CommitSpec) (over string, err error) {
	s.Parents, s.Trailers = []string{head}, nil
	if merge {
		s.Parents = append(s.Parents, sha)
	}
	err = r.viewCommits(ctx, "replace "+head, []string{sha, head}, func(o *packedObjects, at []plumbing.Hash) error {
		c, err := o.readCommit(at[0])
		if err != nil {
			return err
		}
		s.Message = c.Message
		over, err = r.mirror.makeCommit(ctx, o, at[0], treeEdits{}, nil, s)
		return err
	})
	return over, err
}

package gitops

import (
	"context"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Made is a commit that was made here, without its author and time.
type Made struct {
	SHA, Tree string
	Parents   []string
	Message   string
}

// MadeCommits lists a commit and its ancestors that were made here, up to the commits known, each after its parents. It
// returns nothing if the commit was not made here.
func (r *Repo) MadeCommits(ctx context.Context, sha string, known ...string) (out []Made, err error) {
	err = r.viewCommit(ctx, "list commits", sha, func(o *packedObjects, h plumbing.Hash) error {
		out = nil
		return o.eachMade(h, known, func(c *object.Commit) error {
			m := Made{SHA: c.Hash.String(), Tree: c.TreeHash.String(), Message: c.Message}
			for _, p := range c.ParentHashes {
				m.Parents = append(m.Parents, p.String())
			}
			out = append(out, m)
			return nil
		})
	})
	return out, err
}

// SameWork reports whether two commits have the same files, the same message and the same number of parents: one is the
// other, made again by somebody else or at another time.
func (r *Repo) SameWork(ctx context.Context, one, other string) (same bool, err error) {
	err = r.viewCommits(ctx, "compare commits", []string{one, other}, func(o *packedObjects, at []plumbing.Hash) error {
		a, err := o.readCommit(at[0])
		if err != nil {
			return err
		}
		b, err := o.readCommit(at[1])
		if err != nil {
			return err
		}
		same = a.TreeHash == b.TreeHash && len(a.ParentHashes) == len(b.ParentHashes) &&
			strings.TrimSpace(a.Message) == strings.TrimSpace(b.Message)
		return nil
	})
	return same, err
}

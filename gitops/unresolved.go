package gitops

import (
	"context"
	"errors"
	"io/fs"
	"regexp"

	"github.com/go-git/go-git/v5/plumbing"
)

// conflict matches a conflict that a merge wrote into a file. Each marker begins a line.
var conflict = regexp.MustCompile(`(?ms)^` + markerOurs + `.*?^` + markerMiddle + `\r?$.*?^` + markerTheirs)

// Unresolved returns those of the paths of a commit with a file that still holds conflict markers, each at the start of
// a line: that of ours, and below it those of the middle and of theirs. Files larger than a merge writes markers into
// are left out.
func (r *Repo) Unresolved(ctx context.Context, sha string, paths []string) (marked []string, err error) {
	err = r.viewCommit(ctx, "look for conflict markers", sha, func(o *packedObjects, h plumbing.Hash) error {
		marked = nil
		c, err := o.readCommit(h)
		if err != nil {
			return err
		}
		for _, p := range paths {
			switch b, err := o.readFile(c.TreeHash, p, maxUpdateFile); {
			case errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrTooLarge):
			case err != nil:
				return err
			case conflict.Match(b):
				marked = append(marked, p)
			}
		}
		return nil
	})
	return marked, err
}

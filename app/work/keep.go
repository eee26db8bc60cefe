package work

import (
	"context"
	"errors"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// maxPackSize is the maximum size of a commit's pack in the database, in bytes. GitHub rejects files of 100 MB; a
// commit larger than maxPackSize rarely has handwritten files only.
// https://docs.github.com/en/repositories/working-with-files/managing-large-files/about-large-files-on-github
const maxPackSize = 32 << 20

// keepCommits stores the commits of an attempt after from, so that any server can push them even if this server's
// mirror is deleted.
func (w *attemptWorker) keepCommits(ctx context.Context, t sia.Task, from, sha string) error {
	made, err := w.mirror(t).PackMade(ctx, sha, maxPackSize, from, string(t.BaseSHA), string(t.Head))
	if err != nil {
		return err
	}
	for _, c := range made {
		if c.Pack == nil {
			w.Logger.WarnContext(ctx, "commit is too large to be kept in the database: until it is pushed, it is in this "+
				"server's mirror alone", "task", t.ID, "commit", c.SHA, "most", maxPackSize)
			continue
		}
		if err := w.Store.KeepCommit(ctx, t, c.SHA, c.Pack); err != nil {
			return err
		}
	}
	return nil
}

// isCommitLost reports whether an error means that a commit is in no reachable mirror, not in the database, and not on
// the server.
func isCommitLost(err error, sha sia.SHA) bool {
	var gone *gitops.NotFoundError
	return errors.As(err, &gone) && gone.What == "commit "+string(sha)
}

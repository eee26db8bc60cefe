package work

import (
	"context"
	"errors"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// maxKept bounds the pack of a commit that is kept in the database, in bytes. GitHub refuses a file of 100 MB; a larger
// commit than this has files that were hardly written by hand.
// https://docs.github.com/en/repositories/working-with-files/managing-large-files/about-large-files-on-github
const maxKept = 32 << 20

// keepCommits keeps what an attempt made, from a commit on, so that any server can push it: the mirror of this one may
// be gone by then.
func (w *attemptWorker) keepCommits(ctx context.Context, t sia.Task, from, sha string) error {
	made, err := w.mirror(t).PackMade(ctx, sha, maxKept, from, string(t.BaseSHA), string(t.Head))
	if err != nil {
		return err
	}
	for _, c := range made {
		if c.Pack == nil {
			w.Logger.WarnContext(ctx, "commit is too large to be kept in the database: until it is pushed, it is in this "+
				"server's mirror alone", "task", t.ID, "commit", c.SHA, "most", maxKept)
			continue
		}
		if err := w.Store.KeepCommit(ctx, t, c.SHA, c.Pack); err != nil {
			return err
		}
	}
	return nil
}

// lostCommit reports whether an error says that a commit is in no mirror that can be reached, not kept, and not on the
// server.
func lostCommit(err error, sha sia.SHA) bool {
	var gone *gitops.NotFoundError
	return errors.As(err, &gone) && gone.What == "commit "+string(sha)
}

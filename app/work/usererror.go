package work

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// fullDiskWait is the time until an effect is tried again that found the disk of the server's folder full.
const fullDiskWait = time.Minute

// isDiskFull reports whether an error is that the disk, or this process's share of it, is full. Errors of the database
// are another: it may have another disk, and takes no outcome then.
func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// userError wraps git's errors in messages for users, and marks those that a retry can't solve as permanent. With a
// full disk the effect only waits: that is no failed try. Other errors already have a message.
func userError(f sia.Effect, err error) error {
	var (
		known    *sia.Error
		auth     *gitops.AuthError
		missing  *gitops.NotFoundError
		rejected *gitops.RejectedError
		server   *gitops.ServerError
		network  *gitops.NetworkError
	)
	op := string(f.Kind)
	switch {
	case err == nil:
		return nil
	case isDiskFull(err):
		return &sia.Error{Op: op, Turn: true, RetryAfter: fullDiskWait, Err: err, Message: "the disk of the server's " +
			"folder is full; free some space, and SIA goes on where it was"}
	case errors.As(err, &known):
		return err
	case errors.Is(err, gitops.ErrFetchTooLarge):
		return &sia.Error{Op: op, Permanent: true, Err: err, Message: "the repository is larger than SIA can work on: " +
			"what it fetches at once may have 4 GiB when git packs it, 20 GiB unpacked, and a million objects"}
	case errors.Is(err, gitops.ErrTree):
		return &sia.Error{Op: op, Permanent: true, Err: err, Message: "SIA can't check the repository's files out: " +
			text.Clip(err.Error(), 300) + ". Rename or remove the file to go on"}
	case errors.Is(err, syscall.ENAMETOOLONG):
		return &sia.Error{Op: op, Permanent: true, Err: err, Message: "SIA can't check the repository's files out: the " +
			"name of one is longer than 255 bytes. Rename it to go on"}
	case errors.As(err, &auth) && strings.Contains(strings.ToLower(auth.Detail), "archived"):
		return &sia.Error{Op: op, Permanent: true, Err: err, Message: "the repository is archived and so read-only; " +
			"unarchive it to go on"}
	case errors.As(err, &auth):
		return &sia.Error{Op: op, Permanent: true, Err: err, Message: "GitHub refused git access: check that the app has " +
			"the permission \"contents: write\" and that its installation covers this repository"}
	case errors.As(err, &missing):
		return &sia.Error{Op: op, Permanent: true, Err: err,
			Message: "git did not find " + missing.What + ": was the repository renamed, or the branch deleted?"}
	case errors.As(err, &rejected) && rejected.IsQueued():
		return &sia.Error{Op: op, Outage: true, Err: err, Message: "the pull request is in a merge queue, and GitHub " +
			"takes no push to its branch before it is out of it"}
	case errors.As(err, &rejected) && rejected.Beside != "":
		return &sia.Error{Op: op, Permanent: true, Err: err, Message: fmt.Sprintf("there can't be a branch %s beside %s, "+
			"as one name is the folder of the other; rename or delete %[2]s to go on", rejected.Branch, rejected.Beside)}
	case errors.As(err, &rejected):
		return &sia.Error{Op: op, Permanent: true, Err: err,
			Message: "the push to " + rejected.Branch + " was rejected: " + rejected.Reason + ". Allow the app to push " +
				"there, or take the rule off that branch"}
	case errors.As(err, &server) && server.Status == http.StatusOK:
		return &sia.Error{Op: op, Outage: true, RetryAfter: server.RetryAfter, Err: err,
			Message: "git on GitHub does not answer as it should: " + server.Detail}
	case errors.As(err, &server):
		return &sia.Error{Op: op, Outage: true, RetryAfter: server.RetryAfter, Err: err,
			Message: fmt.Sprintf("git on GitHub does not answer as it should (HTTP %d)", server.Status)}
	case errors.As(err, &network) && errors.Is(err, context.DeadlineExceeded):
		return &sia.Error{Op: op, Err: err, Message: "git on GitHub did not send everything in time: the repository is " +
			"large, and the connection slow"}
	case errors.As(err, &network):
		return &sia.Error{Op: op, Outage: true, Err: err, Message: "git on GitHub can't be reached"}
	}
	return err
}

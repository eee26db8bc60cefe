package work

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// userError wraps git's errors in messages for users, and marks those that a retry can't solve as permanent. Other
// errors already have a message.
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
	case err == nil || errors.As(err, &known):
		return err
	case errors.As(err, &auth) && strings.Contains(strings.ToLower(auth.Detail), "archived"):
		return &sia.Error{Op: op, Permanent: true, Err: err, Message: "the repository is archived and so read-only; " +
			"unarchive it to go on"}
	case errors.As(err, &auth):
		return &sia.Error{Op: op, Permanent: true, Err: err, Message: "GitHub refused git access: check that the app has " +
			"the permission \"contents: write\" and that its installation covers this repository"}
	case errors.As(err, &missing):
		return &sia.Error{Op: op, Permanent: true, Err: err,
			Message: "git did not find " + missing.What + ": was the repository renamed, or the branch deleted?"}
	case errors.As(err, &rejected):
		return &sia.Error{Op: op, Permanent: true, Err: err,
			Message: "the push to " + rejected.Branch + " was rejected: " + rejected.Reason + ". Allow the app to push " +
				"there, or take the rule off that branch"}
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

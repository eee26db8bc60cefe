package gitops

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

var (
	// ErrNoBranch says that the branch is not in the remote repository.
	ErrNoBranch = errors.New("no such branch")
	// ErrNotHere says that the mirror lacks a commit, where nothing is fetched.
	ErrNotHere = errors.New("the commit is not in the mirror")
	// ErrEmpty says that there is nothing to commit.
	ErrEmpty = errors.New("nothing changed")
	// ErrTooLarge says that a file is larger than the caller's limit.
	ErrTooLarge = errors.New("file is larger than the limit")
	// ErrTree says that a tree is malformed, or larger or deeper than is worked with. What lies
	// in a workspace may make such a tree.
	ErrTree = errors.New("unfit tree")
	// ErrNotWorkspace says that a directory is in use and is not the workspace that was asked for.
	ErrNotWorkspace = errors.New("directory is not this workspace")
)

// AuthError says that the server refused the credentials, or that they don't
// allow what was asked (401, 403).
type AuthError struct {
	Op     string
	URL    string // without credentials
	Status int
	Detail string // the server's own words, at most a few lines; may be empty
}

func (e *AuthError) Error() string {
	return fmt.Sprintf("%s %s: access refused (HTTP %d)%s", e.Op, e.URL, e.Status, detailSuffix(e.Detail))
}

// NotFoundError says that a repository or commit is not on the server, or that
// the credentials don't let us see it: servers answer both alike.
type NotFoundError struct {
	Op     string
	URL    string // without credentials
	What   string // "repository" or "commit <sha>"
	Detail string
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("%s %s: %s not found%s", e.Op, e.URL, e.What, detailSuffix(e.Detail))
}

// LeaseError says that a branch is not where the push expected it. Nothing was changed.
type LeaseError struct {
	Branch string
	Want   string // the head that the push expected; "" = no such branch
	Head   string // the head that it has; "" = no such branch
}

func (e *LeaseError) Error() string {
	return fmt.Sprintf("push %s: the branch moved: expected %s, found %s", e.Branch, orNone(e.Want), orNone(e.Head))
}

// RejectedError says that the server took the push and refused to move the
// branch: a protected branch, a hook, a missing permission for workflow files.
type RejectedError struct {
	Branch string
	Reason string // the server's own words
}

func (e *RejectedError) Error() string {
	return fmt.Sprintf("push %s: refused by the server: %s", e.Branch, e.Reason)
}

// filesRefused are parts of GitHub's messages about files that it takes on no branch: too large, with secrets, or
// against the rules for pushes. The first three are from messages that others have shown; the last three follow the
// names of the rules.
// https://github.com/git-lfs/git-lfs/issues/6330
// https://github.com/Commando-X/vuln-bank/issues/53
// https://github.com/renovatebot/renovate/pull/44819
var filesRefused = []string{"exceeds github's file size limit", "cannot contain secrets", "file path is restricted",
	"file path length", "file extension", "file size"}

// OfFiles reports whether the server refused the files that were pushed, and not that the branch is moved.
func (e *RejectedError) OfFiles() bool {
	said := strings.ToLower(e.Reason)
	return slices.ContainsFunc(filesRefused, func(words string) bool { return strings.Contains(said, words) })
}

// ServerError says that the server could not answer: 429, 5xx, or an answer
// that is not git's. Trying later may help.
type ServerError struct {
	Op         string
	URL        string        // without credentials
	Status     int           // HTTP status; 200 when the answer itself was wrong
	RetryAfter time.Duration // what the server asked for; 0 when it did not say
	Detail     string
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("%s %s: server answered HTTP %d%s", e.Op, e.URL, e.Status, detailSuffix(e.Detail))
}

// NetworkError says that the exchange with the server broke off: no connection,
// a time limit, a server killed half-way. Trying later may help.
type NetworkError struct {
	Op  string
	URL string // without credentials
	Err error
}

func (e *NetworkError) Error() string { return fmt.Sprintf("%s %s: %v", e.Op, e.URL, e.Err) }

// Unwrap returns the cause.
func (e *NetworkError) Unwrap() error { return e.Err }

func detailSuffix(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

func orNone(sha string) string {
	if sha == "" {
		return "no branch"
	}
	return sha
}

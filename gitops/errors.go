package gitops

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

var (
	// ErrNoBranch reports that the branch is not in the remote repository.
	ErrNoBranch = errors.New("no such branch")
	// ErrNotHere reports that the mirror lacks a commit and nothing is fetched.
	ErrNotHere = errors.New("the commit is not in the mirror")
	// ErrEmpty reports that there is nothing to commit.
	ErrEmpty = errors.New("nothing changed")
	// ErrOtherContent reports that a branch holds something else than it should.
	ErrOtherContent = errors.New("the branch has other content")
	// ErrTooLarge reports that a file is larger than the caller's limit.
	ErrTooLarge = errors.New("file is larger than the limit")
	// ErrFetchTooLarge reports that the commits to fetch have more bytes or objects than are fetched.
	ErrFetchTooLarge = errors.New("the commit is too large to fetch")
	// ErrTree reports that a tree is malformed, or larger or deeper than the limits. The files of a workspace may make
	// such a tree.
	ErrTree = errors.New("unfit tree")
	// ErrNotWorkspace reports that a directory is in use and is not the requested workspace.
	ErrNotWorkspace = errors.New("directory is not this workspace")
)

// AuthError reports that the server refused the credentials, or that they don't permit the request (401, 403).
type AuthError struct {
	Op     string
	URL    string // without credentials
	Status int
	Detail string // the server's message, at most a few lines; may be empty
}

func (e *AuthError) Error() string {
	return fmt.Sprintf("%s %s: access refused (HTTP %d)%s", e.Op, e.URL, e.Status, detailSuffix(e.Detail))
}

// NotFoundError reports that a repository or commit is not on the server, or that the credentials don't permit reading
// it: servers answer both alike.
type NotFoundError struct {
	Op     string
	URL    string // without credentials
	What   string // "repository" or "commit <sha>"
	Detail string
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("%s %s: %s not found%s", e.Op, e.URL, e.What, detailSuffix(e.Detail))
}

// LeaseError reports that a branch is not where the push expected it. Nothing was changed.
type LeaseError struct {
	Branch string
	Want   string // the expected head; "" = no such branch
	Head   string // the actual head; "" = no such branch
}

func (e *LeaseError) Error() string {
	return fmt.Sprintf("push %s: the branch moved: expected %s, found %s", e.Branch, orNone(e.Want), orNone(e.Head))
}

// RejectedError reports that the server received the push and refused to move the branch: a protected branch, a hook, a
// missing permission for workflow files.
type RejectedError struct {
	Branch string
	Reason string // the server's message
	// another branch beside which this one can't exist, because one name is the folder of the other; empty: none
	Beside string
}

func (e *RejectedError) Error() string {
	return fmt.Sprintf("push %s: refused by the server: %s", e.Branch, e.Reason)
}

// filesRefused are parts of GitHub's messages about files that it accepts on no branch: too large, with secrets, or
// against push rules. The first three come from published messages; the last three follow the names of the rules.
// https://github.com/git-lfs/git-lfs/issues/6330
// https://github.com/Commando-X/vuln-bank/issues/53
// https://github.com/renovatebot/renovate/pull/44819
var filesRefused = []string{"exceeds github's file size limit", "cannot contain secrets", "file path is restricted",
	"file path length", "file extension", "file size"}

// OfFiles reports whether the server refused the pushed files, and not the move of the branch.
func (e *RejectedError) OfFiles() bool {
	said := strings.ToLower(e.Reason)
	return slices.ContainsFunc(filesRefused, func(words string) bool { return strings.Contains(said, words) })
}

// OfForce reports whether the server refused to move the branch to a commit that does not contain its head: a rule that
// blocks force pushes, classic protection, or a setting of GitHub Enterprise Server.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets#block-force-pushes
// https://github.com/dependabot/dependabot-core/pull/9439
func (e *RejectedError) OfForce() bool {
	said := strings.ToLower(e.Reason)
	return strings.Contains(said, "force-push") &&
		(strings.Contains(said, "cannot") || strings.Contains(said, "not allowed"))
}

// IsQueued reports whether the branch can't be updated because its pull request is in a merge queue.
// https://github.com/SharezoneApp/sharezone-app/pull/605
func (e *RejectedError) IsQueued() bool {
	return strings.Contains(strings.ToLower(e.Reason), "queued for merging")
}

// ServerError reports that the server could not answer: 429, 5xx, or an answer that is not git's. A retry may help.
type ServerError struct {
	Op         string
	URL        string        // without credentials
	Status     int           // HTTP status; 200 when the answer itself was wrong
	RetryAfter time.Duration // as the server requested; 0 when it did not
	Detail     string
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("%s %s: server answered HTTP %d%s", e.Op, e.URL, e.Status, detailSuffix(e.Detail))
}

// NetworkError reports that the exchange with the server broke off: no connection, a timeout, a server killed half-way.
// A retry may help.
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

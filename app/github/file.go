package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

// ErrTooLarge reports that a file is larger than the caller's limit.
var ErrTooLarge = errors.New("file is larger than the limit")

// DefaultHead returns the head commit of the default branch, or false if there is none: the repository is empty,
// deleted, renamed or inaccessible to the app. Repeated calls without a change don't count against the rate limit.
func (r *Repo) DefaultHead(ctx context.Context) (sha string, ok bool, err error) {
	now, err := r.Repository(ctx)
	if repositoryUnseen(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	// GitHub redirects to the new place of a renamed repository, and does not report it if another one has the name.
	if !strings.EqualFold(now.Name, r.repo.Name) || r.repo.ID != 0 && now.ID != r.repo.ID {
		return "", false, nil
	}
	return r.Head(ctx, now.DefaultBranch)
}

// repositoryUnseen reports whether GitHub refused because the repository does not exist, or the installation does not
// cover it: then it issues no token.
func repositoryUnseen(err error) bool {
	var he *ghinstallation.HTTPError
	return statusOf(err) == http.StatusNotFound ||
		errors.As(err, &he) && he.Response != nil && he.Response.StatusCode == http.StatusUnprocessableEntity
}

// File returns a file of a commit, or false if the commit has no file of that name. The error is [ErrTooLarge] if the
// file is larger than limit bytes; GitHub returns at most a MiB.
// https://docs.github.com/en/rest/repos/contents#get-repository-content
func (r *Repo) File(ctx context.Context, sha, name string, limit int) (content []byte, ok bool, err error) {
	op := fmt.Sprintf("read %s of %s at %s", name, r.repo, shortSHA(sha))
	file, _, _, err := r.gh.Repositories.GetContents(ctx, r.repo.Owner, r.repo.Name, name,
		&gh.RepositoryContentGetOptions{Ref: sha})
	switch {
	case refusalContains(err, "no commit found"): // not all of GitHub's replicas have it yet
		return nil, false, &sia.Error{Op: op, Message: "GitHub does not know that commit everywhere yet",
			Err: err}
	case statusOf(err) == http.StatusNotFound:
		return nil, false, nil
	case err != nil:
		return nil, false, r.app.failure(err, "%s", op)
	case file == nil || file.GetType() != "file":
		return nil, false, nil
	case file.GetSize() > limit:
		return nil, true, fmt.Errorf("%s: %w: %d bytes, limit %d", op, ErrTooLarge, file.GetSize(), limit)
	}
	text, err := file.GetContent()
	return []byte(text), true, r.app.failure(err, "%s", op)
}

// Names returns the names in a folder of a commit, or none if the folder does not exist; "." is the top. A folder's
// name ends with a slash. It omits everything else, such as links and submodules. GitHub lists at most 1,000.
// https://docs.github.com/en/rest/repos/contents#get-repository-content
func (r *Repo) Names(ctx context.Context, sha, dir string) (names []string, err error) {
	folder := dir
	if dir == "." {
		folder = ""
	}
	_, list, _, err := r.gh.Repositories.GetContents(ctx, r.repo.Owner, r.repo.Name, folder,
		&gh.RepositoryContentGetOptions{Ref: sha})
	if dir != "." && statusOf(err) == http.StatusNotFound {
		return nil, nil
	}
	for _, e := range list {
		switch e.GetType() {
		case "file":
			names = append(names, e.GetName())
		case "dir":
			names = append(names, e.GetName()+"/")
		}
	}
	return names, r.app.failure(err, "list %s of %s at %s", dir, r.repo, shortSHA(sha))
}

// Dir returns the paths of the files in a folder of a commit, or none if the folder does not exist. GitHub lists at
// most 1,000.
// https://docs.github.com/en/rest/repos/contents#get-repository-content
func (r *Repo) Dir(ctx context.Context, sha, name string) (paths []string, err error) {
	_, list, _, err := r.gh.Repositories.GetContents(ctx, r.repo.Owner, r.repo.Name, name,
		&gh.RepositoryContentGetOptions{Ref: sha})
	if statusOf(err) == http.StatusNotFound {
		return nil, nil
	}
	for _, e := range list {
		if e.GetType() == "file" {
			paths = append(paths, e.GetPath())
		}
	}
	return paths, r.app.failure(err, "list %s of %s at %s", name, r.repo, shortSHA(sha))
}

package github

import (
	"context"
	"errors"
	"net/http"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia/text"
)

// Merge merges a pull request with its head at a commit, by the first method that the repository allows: merge
// commit, squash or rebase. merged is false if GitHub refuses to merge it now, and why is the reason (405: checks or
// reviews are missing, or a conflict; 409: the head has moved; 403: the app lacks the permission).
// https://docs.github.com/en/rest/pulls/pulls#merge-a-pull-request
func (r *Repo) Merge(ctx context.Context, number int, head string) (merged bool, why string, err error) {
	for _, method := range []string{"merge", "squash", "rebase"} {
		got, _, err := r.gh.PullRequests.Merge(ctx, r.repo.Owner, r.repo.Name, number, "",
			&gh.PullRequestOptions{SHA: head, MergeMethod: method})
		switch {
		case err == nil:
			return got.GetMerged(), got.GetMessage(), nil
		case statusOf(err) == http.StatusMethodNotAllowed && refusalContains(err, "not allowed on this repository"):
			why = refusalReason(err)
			continue // this method is disabled
		case statusOf(err) == http.StatusMethodNotAllowed, statusOf(err) == http.StatusConflict,
			statusOf(err) == http.StatusForbidden:
			return false, refusalReason(err), nil
		}
		return false, "", r.app.failure(err, "merge pull request %s#%d", r.repo, number)
	}
	return false, why, nil
}

// Close closes a pull request without merging it. It does nothing if it is closed.
// https://docs.github.com/en/rest/pulls/pulls#update-a-pull-request
func (r *Repo) Close(ctx context.Context, number int) error {
	got, _, err := r.gh.PullRequests.Edit(ctx, r.repo.Owner, r.repo.Name, number,
		&gh.PullRequest{State: gh.String("closed")})
	return r.app.failure(require(err, got.GetNumber()), "close pull request %s#%d", r.repo, number)
}

// refusalReason returns GitHub's reason for a refusal, on one line.
func refusalReason(err error) string {
	var er *gh.ErrorResponse
	if errors.As(err, &er) {
		return text.Clip(reasonOf(er), 300)
	}
	return ""
}

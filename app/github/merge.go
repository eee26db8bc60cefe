package github

import (
	"context"
	"errors"
	"net/http"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia/text"
)

// Merge merges a pull request with its head at a commit, in a way that the repository allows: a
// merge commit, else squashed, else rebased. merged is false where GitHub says that it can't be
// merged now (405: checks or reviews are missing, it conflicts; 409: the head is another by now;
// 403: the app may not), and why has its words.
// https://docs.github.com/en/rest/pulls/pulls#merge-a-pull-request
func (r *Repo) Merge(ctx context.Context, number int, head string) (merged bool, why string, err error) {
	for _, method := range []string{"merge", "squash", "rebase"} {
		got, _, err := r.gh.PullRequests.Merge(ctx, r.repo.Owner, r.repo.Name, number, "",
			&gh.PullRequestOptions{SHA: head, MergeMethod: method})
		switch {
		case err == nil:
			return got.GetMerged(), got.GetMessage(), nil
		case statusOf(err) == http.StatusMethodNotAllowed && refusalContains(err, "not allowed on this repository"):
			why = saysNo(err)
			continue // this way of merging is switched off
		case statusOf(err) == http.StatusMethodNotAllowed, statusOf(err) == http.StatusConflict,
			statusOf(err) == http.StatusForbidden:
			return false, saysNo(err), nil
		}
		return false, "", r.fail(err, "merge pull request %s#%d", r.repo, number)
	}
	return false, why, nil
}

// Close closes a pull request without merging it. One that is closed stays so.
// https://docs.github.com/en/rest/pulls/pulls#update-a-pull-request
func (r *Repo) Close(ctx context.Context, number int) error {
	got, _, err := r.gh.PullRequests.Edit(ctx, r.repo.Owner, r.repo.Name, number,
		&gh.PullRequest{State: gh.String("closed")})
	return r.fail(require(err, got.GetNumber()), "close pull request %s#%d", r.repo, number)
}

// saysNo is what GitHub says of why it refuses, in a line.
func saysNo(err error) string {
	var er *gh.ErrorResponse
	if errors.As(err, &er) {
		return text.Clip(reasonOf(er), 300)
	}
	return ""
}

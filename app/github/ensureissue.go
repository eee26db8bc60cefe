package github

import (
	"context"

	gh "github.com/google/go-github/v66/github"
)

// EnsureIssue makes the app's issue with a marker have a title and a body, and returns its number. It creates a
// missing issue, and reopens one that the app closed. It leaves an issue that a user closed as it is. known is the
// issue's number if the caller has it, or 0; a user may have removed the marker of that one.
// https://docs.github.com/en/rest/issues/issues#update-an-issue
func (r *Repo) EnsureIssue(ctx context.Context, known int, n NewIssue) (number int, err error) {
	self, err := r.app.Self(ctx)
	if err != nil {
		return 0, err
	}
	var now Issue
	lost := true
	if known != 0 {
		if now, lost, err = r.IssueOrGone(ctx, known); err != nil {
			return 0, err
		}
		lost = lost || now.Author != self.Login
	}
	if lost {
		if now, err = r.CreateIssue(ctx, n); err != nil { // or returns the existing one
			return 0, err
		}
	}
	if now.State == "closed" {
		got, _, err := r.gh.Issues.Get(ctx, r.repo.Owner, r.repo.Name, now.Number)
		if err != nil || got.GetClosedBy().GetLogin() != self.Login {
			return now.Number, r.app.failure(err, "read issue %s#%d", r.repo, now.Number)
		}
	}
	body := withMarker(n.Marker, n.Body)
	if now.State == "open" && now.Title == n.Title && sameText(now.Body, body) {
		return now.Number, nil
	}
	_, _, err = r.gh.Issues.Edit(ctx, r.repo.Owner, r.repo.Name, now.Number,
		&gh.IssueRequest{Title: &n.Title, Body: &body, State: gh.String("open")})
	return now.Number, r.app.failure(err, "update issue %s#%d", r.repo, now.Number)
}

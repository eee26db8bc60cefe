package github

import (
	"context"

	gh "github.com/google/go-github/v66/github"
)

// KeepIssue makes a repository have one issue of the app's under a marker, with a title and a body, and returns its
// number. It opens it again where the app closed it, and opens another where it is gone. One that a person closed is
// left as it is. known is its number when the caller remembers it, or 0: then it is looked for.
// https://docs.github.com/en/rest/issues/issues#update-an-issue
func (r *Repo) KeepIssue(ctx context.Context, known int, n NewIssue) (number int, err error) {
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
		lost = lost || now.Author != self.Login || !hasMarker(now.Body, n.Marker)
	}
	if lost {
		if now, err = r.CreateIssue(ctx, n); err != nil { // or what there is already
			return 0, err
		}
	}
	if now.State == "closed" {
		got, _, err := r.gh.Issues.Get(ctx, r.repo.Owner, r.repo.Name, now.Number)
		if err != nil || got.GetClosedBy().GetLogin() != self.Login {
			return now.Number, r.fail(err, "read issue %s#%d", r.repo, now.Number)
		}
	}
	body := withMarker(n.Marker, n.Body)
	if now.State == "open" && now.Title == n.Title && sameText(now.Body, body) {
		return now.Number, nil
	}
	_, _, err = r.gh.Issues.Edit(ctx, r.repo.Owner, r.repo.Name, now.Number,
		&gh.IssueRequest{Title: &n.Title, Body: &body, State: gh.String("open")})
	return now.Number, r.fail(err, "update issue %s#%d", r.repo, now.Number)
}

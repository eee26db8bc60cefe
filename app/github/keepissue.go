package github

import (
	"context"
	"net/http"

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
	var now *gh.Issue
	if known != 0 {
		got, _, err := r.gh.Issues.Get(ctx, r.repo.Owner, r.repo.Name, known)
		switch status := statusOf(err); {
		case err == nil && got.GetUser().GetLogin() == self.Login && hasMarker(got.GetBody(), n.Marker):
			now = got
		case err != nil && status != http.StatusNotFound && status != http.StatusGone:
			return 0, r.fail(err, "read issue %s#%d", r.repo, known)
		}
	}
	if now == nil {
		made, err := r.CreateIssue(ctx, n) // or what there is already
		if err != nil {
			return 0, err
		}
		got, _, err := r.gh.Issues.Get(ctx, r.repo.Owner, r.repo.Name, made.Number)
		if err != nil {
			return 0, r.fail(err, "read issue %s#%d", r.repo, made.Number)
		}
		now = got
	}
	number = now.GetNumber()
	if now.GetState() == "closed" && now.GetClosedBy().GetLogin() != self.Login {
		return number, nil
	}
	body := withMarker(n.Marker, n.Body)
	if now.GetState() == "open" && now.GetTitle() == n.Title && sameText(now.GetBody(), body) {
		return number, nil
	}
	_, _, err = r.gh.Issues.Edit(ctx, r.repo.Owner, r.repo.Name, number,
		&gh.IssueRequest{Title: &n.Title, Body: &body, State: gh.String("open")})
	return number, r.fail(err, "update issue %s#%d", r.repo, number)
}

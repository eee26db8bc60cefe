package github

import (
	"context"
	"net/http"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

// Reaction is a reaction to a comment.
type Reaction struct {
	ID       int64
	Content  string // +1, -1, laugh, confused, heart, hooray, rocket or eyes
	Author   string
	AuthorID int64
}

// React adds a reaction of the app to a comment on a line, to a comment, or to the issue or pull request itself. It
// is idempotent: GitHub keeps one reaction of each kind. A comment that was deleted needs none.
// https://docs.github.com/en/rest/reactions/reactions
func (r *Repo) React(ctx context.Context, on sia.Origin, content string) error {
	var err error
	switch {
	case on.Thread != 0:
		_, _, err = r.gh.Reactions.CreatePullRequestCommentReaction(ctx, r.repo.Owner, r.repo.Name, on.Thread, content)
	case on.Comment != 0:
		_, _, err = r.gh.Reactions.CreateIssueCommentReaction(ctx, r.repo.Owner, r.repo.Name, on.Comment, content)
	default:
		_, _, err = r.gh.Reactions.CreateIssueReaction(ctx, r.repo.Owner, r.repo.Name, on.OnIssue, content)
	}
	if gone := statusOf(err) == http.StatusNotFound || statusOf(err) == http.StatusGone; gone &&
		(on.Comment != 0 || on.Thread != 0) {
		return nil
	}
	return r.app.failure(err, "react on %s#%d", r.repo, on.OnIssue)
}

// Reactions returns the reactions to a comment, oldest first; none if it was deleted.
func (r *Repo) Reactions(ctx context.Context, comment int64) ([]Reaction, error) {
	var out []Reaction
	for x, err := range eachPage(func(o gh.ListOptions) ([]*gh.Reaction, *gh.Response, error) {
		return r.gh.Reactions.ListIssueCommentReactions(ctx, r.repo.Owner, r.repo.Name, comment, &o)
	}) {
		if statusOf(err) == http.StatusNotFound {
			return nil, nil
		}
		if err != nil {
			return nil, r.app.failure(err, "read reactions to comment %d of %s", comment, r.repo)
		}
		out = append(out, Reaction{ID: x.GetID(), Content: x.GetContent(), Author: x.GetUser().GetLogin(),
			AuthorID: x.GetUser().GetID()})
	}
	return out, nil
}

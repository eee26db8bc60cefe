package github

import (
	"context"

	gh "github.com/google/go-github/v66/github"
)

// Reaction is somebody's reaction to a comment.
type Reaction struct {
	ID       int64
	Content  string // +1, -1, laugh, confused, heart, hooray, rocket or eyes
	Author   string
	AuthorID int64
}

// React puts a reaction of the app on a comment, or on the issue itself when
// comment is 0. GitHub keeps one of each kind, however often it is put.
// https://docs.github.com/en/rest/reactions/reactions
func (r *Repo) React(ctx context.Context, issue int, comment int64, content string) error {
	var err error
	if comment == 0 {
		_, _, err = r.gh.Reactions.CreateIssueReaction(ctx, r.repo.Owner, r.repo.Name, issue, content)
	} else {
		_, _, err = r.gh.Reactions.CreateIssueCommentReaction(ctx, r.repo.Owner, r.repo.Name, comment, content)
	}
	return r.fail(err, "react on %s#%d", r.repo, issue)
}

// Reactions returns the reactions to a comment, oldest first.
func (r *Repo) Reactions(ctx context.Context, comment int64) ([]Reaction, error) {
	var out []Reaction
	for x, err := range eachPage(func(o gh.ListOptions) ([]*gh.Reaction, *gh.Response, error) {
		return r.gh.Reactions.ListIssueCommentReactions(ctx, r.repo.Owner, r.repo.Name, comment, &o)
	}) {
		if err != nil {
			return nil, r.fail(err, "read reactions to comment %d of %s", comment, r.repo)
		}
		out = append(out, Reaction{ID: x.GetID(), Content: x.GetContent(), Author: x.GetUser().GetLogin(),
			AuthorID: x.GetUser().GetID()})
	}
	return out, nil
}

package webhook

import (
	"context"
	"strings"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
)

// Comments takes comments that were found by looking at an issue or pull
// request of a task. A comment that a delivery told of already counts no second
// time.
func (in *Intake) Comments(ctx context.Context, t sia.Task, on github.Issue, comments []github.Comment) error {
	self, err := in.GitHub.Self(ctx)
	if err != nil {
		return err
	}
	for _, c := range comments {
		intent := sia.Intent{
			Installation: t.Installation, Repo: t.Repo, Bot: strings.HasSuffix(c.Author, "[bot]"),
			Event: sia.Event{At: in.Now(), By: sia.Actor{Login: c.Author, ID: c.AuthorID}},
		}
		found := Comment{
			ID: c.ID, Issue: on.Number, Body: c.Body, ByApp: c.Author == self.Login, IsPull: on.IsPull,
			IssueTitle: on.Title, IssueBody: on.Body, DefaultBranch: t.BaseBranch,
		}
		for _, i := range FromComment(intent, found, self.Slug) {
			if err := in.Take(ctx, i); err != nil {
				return err
			}
		}
	}
	return nil
}

package webhook

import (
	"context"
	"strings"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/command"
)

// Comments takes comments that a look at an issue or pull request of a task found. A comment counts once, also if its
// delivery arrived before. An edited one does not count: somebody other than its author may have edited it, which only
// a delivery says.
func (in *Intake) Comments(ctx context.Context, t sia.Task, on github.Issue, comments []github.Comment) error {
	self, err := in.GitHub.Self(ctx)
	if err != nil {
		return err
	}
	for _, c := range comments {
		if c.Edited.After(c.Written) {
			continue
		}
		found := Comment{
			ID: c.ID, Issue: on.Number, Body: c.Body, ByApp: c.Author == self.Login, IsPull: on.IsPull,
			IssueTitle: on.Title, IssueBody: on.Body, DefaultBranch: t.BaseBranch, Edited: c.Edited,
		}
		for _, i := range FromComment(in.foundIntent(t, c.Author, c.AuthorID), found, self.Slug) {
			known, err := in.Store.Applied(ctx, t.ID, i.Event.ID)
			if err == nil && !known { // saves asking GitHub about its author
				err = in.Take(ctx, i)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Reviews takes reviews of a task's pull request, and comments on its lines that nobody edited, that a look found. Each
// counts once, also if its delivery arrived before.
func (in *Intake) Reviews(
	ctx context.Context, t sia.Task, reviews []github.PullReview, comments []github.ReviewComment,
) error {
	self, err := in.GitHub.Self(ctx)
	if err != nil {
		return err
	}
	var all []sia.Intent
	for _, v := range reviews {
		all = append(all, FromReview(in.foundIntent(t, v.Author, v.AuthorID), Review{ID: v.ID, Pull: t.Pull.Number,
			Branch: t.Branch, State: v.State, Body: v.Body, At: v.At}, self.Slug)...)
	}
	for _, c := range comments {
		_, isCommand := command.Parse(c.Body, self.Slug)
		if isCommand && c.Author != self.Login && !c.Edited.After(c.Written) {
			all = append(all, FromComment(in.foundIntent(t, c.Author, c.AuthorID), Comment{Thread: c.ID, Issue: t.Pull.Number,
				Body: c.Body, IsPull: true, Edited: c.Edited}, self.Slug)...)
		}
	}
	for _, i := range all {
		if err := in.Take(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// foundIntent returns an intent of a user about a task, found by a look.
func (in *Intake) foundIntent(t sia.Task, login string, id int64) sia.Intent {
	return sia.Intent{Installation: t.Installation, Repo: t.Repo, Bot: strings.HasSuffix(login, "[bot]"),
		Event: sia.Event{At: in.Now(), By: sia.Actor{Login: login, ID: id}}}
}

package webhook

import (
	"context"
	"errors"
	"strings"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/command"
)

// Comments takes comments that a look at an issue or pull request of a task found. A comment counts once, also if its
// delivery arrived before. An edited one counts if its author wrote a command into it.
func (in *Intake) Comments(ctx context.Context, t sia.Task, on github.Issue, comments []github.Comment) error {
	self, err := in.GitHub.Self(ctx)
	if err != nil {
		return err
	}
	for _, c := range comments {
		found := Comment{
			ID: c.ID, Issue: on.Number, Body: c.Body, ByApp: c.Author == self.Login, IsPull: on.IsPull,
			IssueTitle: on.Title, IssueBody: on.Body, DefaultBranch: t.BaseBranch, Edited: c.Edited,
		}
		all := FromComment(in.foundIntent(t, c.Author, c.AuthorID), found, self.Slug)
		if c.Edited.After(c.Written) {
			err = in.takeEdited(ctx, t, c, all, self.Slug)
		} else {
			err = in.takeFound(ctx, t, all)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeFound takes the intents of a comment that the task has not had.
func (in *Intake) takeFound(ctx context.Context, t sia.Task, all []sia.Intent) error {
	for _, i := range all {
		known, err := in.Store.Applied(ctx, t.ID, i.Event.ID)
		if err == nil && !known { // saves asking GitHub about its author
			err = in.Take(ctx, i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeEdited takes the intents of an edited comment if its author wrote a command into it. One that was heard before
// the edit is left out: the command may be the same. GitHub is asked once about each comment.
func (in *Intake) takeEdited(
	ctx context.Context, t sia.Task, c github.Comment, all []sia.Intent, slug string,
) error {
	line, addressed := command.Line(c.Body, slug)
	if !addressed || len(all) == 0 { // of the app's own there are none
		return nil
	}
	first := all[0].Event.ID
	for i := range all {
		all[i].Event.ID = editID(all[i].Event.ID, line)
	}
	edit := all[0].Event.ID
	for _, event := range []string{first, edit} {
		known, err := in.Store.Applied(ctx, t.ID, event)
		if err == nil && !known {
			if _, err = in.Store.Heard(ctx, t.Repo.ID, event); errors.Is(err, store.ErrNotFound) {
				continue
			}
		}
		return err
	}
	theirs, err := in.GitHub.Repo(t.Installation, t.Repo).IsAuthors(ctx, c)
	if err != nil {
		return err
	}
	heard := store.Heard{Repo: t.Repo.ID, Event: edit, At: in.Now()}
	if theirs {
		heard.Event = first // of late deliveries, neither the comment's own nor that of the edit counts again
		if err := in.takeFound(ctx, t, all); err != nil {
			return err
		}
	}
	return in.Store.SaveHeard(ctx, heard)
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

package work

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
)

// lookMargin is how far back a look reads comments before the task's last
// change; what was taken before counts no second time.
const lookMargin = 2 * time.Minute

// lookAtIssue reads the task's issue and the comments on it and on its pull
// request, and hands what a lost delivery would have said to the intake.
func (w *Worker) lookAtIssue(ctx context.Context, t sia.Task) (github.Issue, error) {
	repo := w.repo(t)
	issue, err := repo.Issue(ctx, t.Issue)
	if err != nil {
		return issue, err
	}
	stop := ""
	switch {
	case issue.State == "closed":
		stop = "the issue was closed"
	case t.Label != "" && !slices.Contains(issue.Labels, t.Label):
		stop = fmt.Sprintf("the label `%s` was taken off", t.Label)
	}
	if stop != "" && !t.State.Final() {
		e := sia.Event{ID: fmt.Sprintf("look/%s/v%d", t.ID, t.Version), At: w.Now(), Fact: sia.Stop{Reason: stop}}
		if _, err := w.Store.Apply(ctx, t.ID, e); err != nil {
			return issue, err
		}
		return issue, nil
	}
	since := t.Since.Add(-lookMargin)
	if since.Before(t.StartedAt) {
		since = t.StartedAt
	}
	places := []github.Issue{issue}
	if t.Pull.Number != 0 {
		places = append(places, github.Issue{Number: t.Pull.Number, IsPull: true})
	}
	if e := t.Escalation; e != nil && e.Issue != 0 && e.Issue != t.Issue && !e.Answered {
		box, err := repo.Issue(ctx, e.Issue)
		if err != nil {
			return issue, err
		}
		if err := w.boxes(ctx, t, box); err != nil {
			return issue, err
		}
		places = append(places, box)
	}
	for _, p := range places {
		comments, err := repo.CommentsSince(ctx, p.Number, since)
		if err != nil {
			return issue, err
		}
		if err := w.Intake.Comments(ctx, t, p, comments); err != nil {
			return issue, err
		}
	}
	return issue, nil
}

// boxes hands a question's body to the intake, in case a box was ticked. Who
// ticked it can't be told from the issue, but only people with write access can
// edit what the app wrote.
func (w *Worker) boxes(ctx context.Context, t sia.Task, box github.Issue) error {
	return w.Intake.Take(ctx, sia.Intent{
		Installation: t.Installation, Repo: t.Repo, Refs: []string{sia.IssueRef(box.Number)},
		Event: sia.Event{
			ID: fmt.Sprintf("look/%s/boxes/v%d", t.ID, t.Version), At: w.Now(),
			Origin: sia.Origin{OnIssue: box.Number}, Fact: sia.Edited{Title: box.Title, Body: box.Body},
		},
	})
}

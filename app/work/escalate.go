package work

import (
	"context"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// escalate asks a user. The agent's own question and its plan become a comment on the task's issue, everything else a
// new issue.
func (w *surfaceWorker) escalate(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	repo, e := w.repo(t), *t.Escalation
	if f.Seq != 0 && f.Seq != e.Number {
		return sia.Done{}, nil // a newer question has its own effect
	}
	comment := ""
	switch e.Kind {
	case sia.AskQuestion:
		comment = render.AskComment(t, e)
	case sia.AskAlready:
		comment = render.AlreadyComment(t, e, w.Links)
	case sia.AskEdited:
		comment = render.EditedComment(t, e)
	case sia.AskPlan:
		comment = render.PlanComment(t, e, w.Links)
	}
	if comment != "" {
		c, err := repo.UpsertComment(ctx, t.Issue, markerLine(f), comment, w.known(t, f))
		if err != nil {
			return nil, err
		}
		return sia.EscalationOpened{Question: e.Number, Issue: t.Issue, URL: c.URL}, nil
	}
	var assignees []string
	if t.AskedBy.Login != "" {
		assignees = []string{t.AskedBy.Login}
	}
	issue, err := repo.CreateIssue(ctx, github.NewIssue{
		Title: render.EscalationTitle(t, e), Body: render.EscalationBody(t, e, w.Links), Marker: markerLine(f),
		Labels: []string{render.LabelNeedsHuman}, Assignees: assignees,
	})
	if err != nil {
		return nil, err
	}
	return sia.EscalationOpened{Question: e.Number, Issue: issue.Number, URL: issue.URL}, nil
}

package webhook

import (
	"context"
	"fmt"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// Dashboards keeps the dashboard issues.
type Dashboards interface {
	// Refresh writes a repository's dashboard as it should be.
	Refresh(ctx context.Context, installation int64, repo sia.Repo) error
	// Closed says on a dashboard that a person closed it what that means.
	Closed(ctx context.Context, installation int64, repo sia.Repo, issue int, event string) error
}

// board is what a person did to a dashboard.
type board struct {
	repo   sia.Repo
	issue  int
	closed string // id of the event; empty: it was not closed
}

// readBoard reads an event about the dashboard, which is never a task: a box that somebody ticked is the command that
// it stands for, as if that were written in a comment on its issue. Whatever else is edited is written anew.
func readBoard(e *gh.IssuesEvent, r reading) ([]sia.Intent, *administration) {
	in := r.intent(e.GetRepo(), e.GetInstallation(), e.GetSender(), nil)
	about := &administration{installation: in.Installation, board: &board{repo: in.Repo, issue: e.GetIssue().GetNumber()}}
	if in.Event.By.Login == r.slug+"[bot]" {
		return nil, nil
	}
	switch e.GetAction() {
	case "closed":
		about.board.closed = in.Event.ID
		return nil, about
	case "reopened", "deleted":
		return nil, about
	case "edited":
	default:
		return nil, nil
	}
	var intents []sia.Intent
	before := e.GetChanges().GetBody().GetFrom()
	if e.GetIssue().GetState() == "closed" || e.GetChanges().GetBody() == nil {
		return nil, about
	}
	for i, c := range render.Ticked(before, e.GetIssue().GetBody()) {
		for _, one := range FromComment(in, Comment{Issue: c.Issue, Body: "/sia " + c.Words}, r.slug) {
			one.Event.ID = fmt.Sprintf("%s/box/%d", in.Event.ID, i+1)
			one.Event.Origin.OnIssue = e.GetIssue().GetNumber()
			if c.Issue == 0 {
				one.Refs = nil
			}
			intents = append(intents, one)
		}
	}
	return intents, about
}

// byBoard reports whether an issue is a dashboard.
func byBoard(i *gh.Issue, r reading) bool {
	return i.GetUser().GetLogin() == r.slug+"[bot]" && render.IsBoard(i.GetBody())
}

// keepBoard brings a dashboard up to date after what was done to it.
func (in *Intake) keepBoard(ctx context.Context, a administration) error {
	if b := a.board; b.closed != "" {
		return in.Dashboards.Closed(ctx, a.installation, b.repo, b.issue, b.closed)
	}
	return in.Dashboards.Refresh(ctx, a.installation, a.board.repo)
}

package webhook

import (
	"context"
	"fmt"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// Dashboards updates the dashboard issues.
type Dashboards interface {
	// Refresh writes the current state to a repository's dashboard; issue is the one that an event is about.
	Refresh(ctx context.Context, installation int64, repo sia.Repo, issue int) error
	// Closed explains on a dashboard what closing it means.
	Closed(ctx context.Context, installation int64, repo sia.Repo, issue int, event string) error
}

// boardChange is what a user did to a dashboard.
type boardChange struct {
	repo   sia.Repo
	issue  int
	closed string // id of the event; empty: not closed
}

// readBoard reads an event about the dashboard, which is never a task. A ticked box counts as its command, written in
// a comment on the box's issue. Any other edit is overwritten.
func readBoard(e *gh.IssuesEvent, r meta) ([]sia.Intent, *administration) {
	in := r.intent(e.GetRepo(), e.GetInstallation(), e.GetSender(), nil)
	admin := &administration{installation: in.Installation,
		board: &boardChange{repo: in.Repo, issue: e.GetIssue().GetNumber()}}
	if in.Event.By.Login == r.slug+"[bot]" {
		return nil, nil
	}
	switch e.GetAction() {
	case "closed":
		admin.board.closed = in.Event.ID
		return nil, admin
	case "reopened", "deleted":
		return nil, admin
	case "edited":
	default:
		return nil, nil
	}
	var intents []sia.Intent
	before := e.GetChanges().GetBody().GetFrom()
	if e.GetIssue().GetState() == "closed" || e.GetChanges().GetBody() == nil {
		return nil, admin
	}
	for i, c := range render.Ticked(before, e.GetIssue().GetBody()) {
		for _, intent := range FromComment(in, Comment{Issue: c.Issue, Body: "/sia " + c.Words}, r.slug) {
			intent.Event.ID = fmt.Sprintf("%s/box/%d", in.Event.ID, i+1)
			intent.Event.Origin.OnIssue = e.GetIssue().GetNumber()
			if c.Issue == 0 {
				intent.Refs = nil
			}
			intents = append(intents, intent)
		}
	}
	return intents, admin
}

// isBoard reports whether an issue is a dashboard. before is its text before an edit, which may have removed its
// marker.
func isBoard(i *gh.Issue, r meta, before string) bool {
	return i.GetUser().GetLogin() == r.slug+"[bot]" && (render.IsBoard(i.GetBody()) || render.IsBoard(before))
}

// updateBoard updates a dashboard after a change to it.
func (in *Intake) updateBoard(ctx context.Context, a administration) error {
	if b := a.board; b.closed != "" {
		return in.Dashboards.Closed(ctx, a.installation, b.repo, b.issue, b.closed)
	}
	return in.Dashboards.Refresh(ctx, a.installation, a.board.repo, a.board.issue)
}

package webhook

import (
	"encoding/json"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

// readIssues reads "issues". The label starts a task; removing the label, and closing, deleting or transferring the
// issue stop it. Closing the issue of a question leaves the question unanswered. An edit is new text, or a ticked box
// of an escalation.
func readIssues(payload any, r meta) ([]sia.Intent, *administration) {
	e, ok := payload.(*gh.IssuesEvent)
	if !ok || e.GetIssue() == nil || e.GetIssue().IsPullRequest() {
		return nil, nil
	}
	if isBoard(e.GetIssue(), r, e.GetChanges().GetBody().GetFrom()) {
		return readBoard(e, r)
	}
	n := e.GetIssue().GetNumber()
	in := r.intent(e.GetRepo(), e.GetInstallation(), e.GetSender(), nil)
	in.Refs = []string{sia.IssueRef(n)}
	in.Event.Origin = sia.Origin{OnIssue: n}
	in.Changed = e.GetIssue().GetUpdatedAt().Time
	by := "@" + in.Event.By.Login
	switch e.GetAction() {
	case "labeled":
		in.Label = e.GetLabel().GetName()
		in.Permission = true
		in.Event.Fact = sia.Start{
			Installation: in.Installation, Repo: in.Repo, Issue: n, Title: e.GetIssue().GetTitle(),
			Body: e.GetIssue().GetBody(), DefaultBranch: e.GetRepo().GetDefaultBranch(), Label: in.Label,
			LabelID: e.GetLabel().GetID(),
		}
	case "unlabeled":
		in.Label = e.GetLabel().GetName()
		in.Event.Fact = sia.Stop{Reason: by + " took the label off"}
	case "closed":
		in.Event.Fact = sia.Stop{Reason: by + " closed the issue"}
		question := in
		question.Event.Fact = sia.NotAnswered{Closed: true}
		return []sia.Intent{in, question}, nil
	case "deleted":
		in.Event.Fact = sia.Stop{Reason: by + " deleted the issue", IssueGone: true}
	case "transferred":
		in.Event.Fact = sia.Stop{Reason: by + " transferred the issue to another repository", IssueGone: true,
			Transferred: transferredTo(r.body)}
	case "edited":
		in.Permission = true
		in.Event.Fact = sia.Edited{Title: e.GetIssue().GetTitle(), Body: e.GetIssue().GetBody()}
	default:
		return nil, nil
	}
	return []sia.Intent{in}, nil
}

// transferredTo returns the issue's new place, or nil if the payload has none. go-github's event lacks these fields.
func transferredTo(body []byte) *sia.IssueAt {
	var e struct {
		Changes struct {
			Issue      *gh.Issue      `json:"new_issue"`
			Repository *gh.Repository `json:"new_repository"`
		} `json:"changes"`
	}
	if json.Unmarshal(body, &e) != nil || e.Changes.Issue.GetNumber() == 0 || e.Changes.Repository.GetID() == 0 {
		return nil
	}
	repo := e.Changes.Repository
	return &sia.IssueAt{Issue: e.Changes.Issue.GetNumber(),
		Repo: sia.Repo{ID: repo.GetID(), Owner: repo.GetOwner().GetLogin(), Name: repo.GetName()}}
}

package webhook

import (
	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

// readPullRequest reads "pull_request": a person's push to the task's branch, the end of
// the pull request and that it is opened again, and what may set checks going. Pull
// requests from forks never match a task's branch: their head lies in another repository.
func readPullRequest(payload any, r reading) ([]sia.Intent, *administration) {
	e, ok := payload.(*gh.PullRequestEvent)
	if !ok || e.GetPullRequest() == nil {
		return nil, nil
	}
	p := e.GetPullRequest()
	if p.GetHead().GetRepo().GetID() != e.GetRepo().GetID() {
		return nil, nil
	}
	in := r.intent(e.GetRepo(), e.GetInstallation(), e.GetSender(), nil)
	in.Refs = []string{sia.BranchRef(p.GetHead().GetRef())}
	in.Event.Origin = sia.Origin{OnIssue: p.GetNumber()}
	switch e.GetAction() {
	case "synchronize":
		in.Event.Fact = sia.BranchMoved{SHA: sia.SHA(p.GetHead().GetSHA())}
	case "closed":
		in.Event.Fact = sia.PullClosed{Merged: p.GetMerged(), Head: sia.SHA(p.GetHead().GetSHA())}
	case "reopened":
		in.Event.Fact = sia.PullReopened{Number: p.GetNumber(), NodeID: p.GetNodeID(), URL: p.GetHTMLURL()}
	case "ready_for_review", "converted_to_draft": // checks that don't run on drafts do now, or will not
		return []sia.Intent{hint(in, sia.SHA(p.GetHead().GetSHA()))}, nil
	default:
		return nil, nil
	}
	return []sia.Intent{in}, nil
}

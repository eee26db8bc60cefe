package webhook

import (
	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

// readPullRequest reads "pull_request": a person's push to the task's branch,
// and the end of the pull request. Pull requests from forks never match a task's
// branch: their head lies in another repository.
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
	default:
		return nil, nil
	}
	return []sia.Intent{in}, nil
}

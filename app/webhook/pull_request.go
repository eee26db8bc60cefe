package webhook

import (
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

// readPullRequest reads "pull_request": a push to the task's branch by another user, the end or the reopening of the
// pull request, a new base, and a change to draft or ready, which may start checks. Pull requests from forks never
// match a task's branch: their head is in another repository.
func readPullRequest(payload any, r meta) ([]sia.Intent, *administration) {
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
	in.Changed = p.GetUpdatedAt().Time
	switch e.GetAction() {
	case "synchronize":
		if e.GetSender().GetLogin() == r.slug+"[bot]" {
			return nil, nil // SIA's own push
		}
		in.Bot = false // a bot's push moves the branch, too
		in.Event.Fact = sia.BranchMoved{SHA: sia.SHA(p.GetHead().GetSHA())}
	case "edited":
		if e.GetChanges().GetBase() == nil {
			return nil, nil
		}
		in.Bot = false
		in.Event.Fact = sia.Retargeted{Base: p.GetBase().GetRef(), SHA: sia.SHA(p.GetBase().GetSHA())}
	case "closed":
		in.Bot = false              // merge queues and other bots merge and close, too
		if p.GetState() == "open" { // as it was before, so that it has changed since
			in.Changed = in.Changed.Add(time.Second)
		}
		in.Event.Fact = sia.PullClosed{Merged: p.GetMerged() || p.MergedAt != nil, Head: sia.SHA(p.GetHead().GetSHA()),
			ClosedAt: p.GetClosedAt().Time}
	case "reopened":
		in.Bot = false
		in.Event.Fact = sia.PullReopened{Number: p.GetNumber(), NodeID: p.GetNodeID(), URL: p.GetHTMLURL()}
	case "ready_for_review", "converted_to_draft":
		if e.GetSender().GetLogin() == r.slug+"[bot]" { // checks that skip drafts start or stop
			return []sia.Intent{hint(in, sia.SHA(p.GetHead().GetSHA()))}, nil
		}
		in.Bot = false
		in.Event.Fact = sia.DraftChanged{Draft: e.GetAction() == "converted_to_draft"}
	default:
		return nil, nil
	}
	return []sia.Intent{in}, nil
}

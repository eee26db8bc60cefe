package webhook

import (
	"slices"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

// readCheckRun reads "check_run": a hint for the gate, or a button in SIA's own check run.
func readCheckRun(payload any, r meta) ([]sia.Intent, *administration) {
	e, ok := payload.(*gh.CheckRunEvent)
	if !ok || e.GetCheckRun() == nil {
		return nil, nil
	}
	run := e.GetCheckRun()
	own := run.GetApp().GetSlug() == r.slug
	in := r.intent(e.GetRepo(), e.GetInstallation(), e.GetSender(), nil)
	in.Refs = []string{sia.CommitRef(sia.SHA(run.GetHeadSHA()))}
	switch e.GetAction() {
	case "completed", "created":
		if own || run.GetStatus() == "queued" || run.GetStatus() == "in_progress" {
			return nil, nil // only its end decides something
		}
		return []sia.Intent{ended(in, sia.SHA(run.GetHeadSHA()), run.GetConclusion())}, nil
	case "rerequested":
		if !own {
			return []sia.Intent{hint(in, sia.SHA(run.GetHeadSHA()))}, nil
		}
		return rerun(in, sia.SHA(run.GetHeadSHA())), nil
	case "requested_action":
		if !own || e.RequestedAction == nil {
			return nil, nil
		}
		in.Permission = true
		by := "@" + in.Event.By.Login
		switch e.RequestedAction.Identifier {
		case "pause":
			in.Event.Fact = sia.PauseAsked{Reason: by + " pressed Pause"}
		case "stop":
			in.Event.Fact = sia.Stop{Reason: by + " pressed Stop"}
		case "resume":
			in.Event.Fact = sia.Resume{}
		case "retry":
			in.Event.Fact = sia.Retry{}
		case "accept-tests":
			in.Event.Fact = sia.AcceptTests{SHA: sia.SHA(run.GetHeadSHA())}
		default:
			return nil, nil
		}
	default:
		return nil, nil
	}
	return []sia.Intent{in}, nil
}

// ended is a hint that a check has ended with a conclusion, or a status has a state. Either may be empty.
func ended(in sia.Intent, sha sia.SHA, conclusion string) sia.Intent {
	in = hint(in, sha)
	in.Event.Fact = sia.CheckSeen{SHA: sha, Bad: !slices.Contains([]string{"", "success", "neutral", "skipped", "pending"},
		conclusion)}
	return in
}

// hint turns an intent into a hint that checks of a commit changed. The sender does not matter: the gate reads GitHub
// itself.
func hint(in sia.Intent, sha sia.SHA) sia.Intent {
	in.Bot = false
	in.Refs = []string{sia.CommitRef(sha)}
	in.Event.By = sia.Actor{}
	in.Event.Fact = sia.CheckSeen{SHA: sha}
	return in
}

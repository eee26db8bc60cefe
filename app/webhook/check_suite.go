package webhook

import (
	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

// readCheckSuite reads "check_suite": a hint for the gate, or a request to rerun SIA's own check, which GitHub leaves
// queued until the app updates it.
// https://docs.github.com/en/rest/checks/suites#rerequest-a-check-suite
func readCheckSuite(payload any, r meta) ([]sia.Intent, *administration) {
	e, ok := payload.(*gh.CheckSuiteEvent)
	if !ok {
		return nil, nil
	}
	sha := sia.SHA(e.GetCheckSuite().GetHeadSHA())
	in := r.intent(e.GetRepo(), e.GetInstallation(), e.GetSender(), nil)
	switch {
	case e.GetCheckSuite().GetApp().GetSlug() != r.slug:
		return []sia.Intent{ended(in, sha, e.GetCheckSuite().GetConclusion())}, nil
	case e.GetAction() == "rerequested":
		return rerun(in, sha), nil
	}
	return nil, nil
}

// rerun returns the intents of a request to rerun SIA's own check of a commit: the check run is written again in any
// case, and the task is retried if the user may do that.
func rerun(in sia.Intent, sha sia.SHA) []sia.Intent {
	reset := hint(in, sha)
	reset.Event.ID += "/anew"
	reset.Event.Fact = sia.CheckSeen{SHA: sha, Reset: true}
	in.Refs = []string{sia.CommitRef(sha)}
	in.Permission = true
	in.Event.Fact = sia.Retry{}
	return []sia.Intent{reset, in}
}

package webhook

import (
	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

// readCheckSuite reads "check_suite": a hint for the gate, or a person's wish to
// have SIA's own run again, which GitHub leaves queued until the app writes to it.
// https://docs.github.com/en/rest/checks/suites#rerequest-a-check-suite
func readCheckSuite(payload any, r reading) ([]sia.Intent, *administration) {
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
		return again(in, sha), nil
	}
	return nil, nil
}

// again makes an intent the wish to have SIA's own check of a commit again: it is
// shown anew in any case, and where the person may, it is as if they said retry.
func again(in sia.Intent, sha sia.SHA) []sia.Intent {
	anew := hint(in, sha)
	anew.Event.ID += "/anew"
	anew.Event.Fact = sia.CheckSeen{SHA: sha, Reset: true}
	in.Refs = []string{sia.CommitRef(sha)}
	in.Permission = true
	in.Event.Fact = sia.Retry{}
	return []sia.Intent{anew, in}
}

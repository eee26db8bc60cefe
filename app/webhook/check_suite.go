package webhook

import (
	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

// readCheckSuite reads "check_suite": a hint for the gate.
func readCheckSuite(payload any, r reading) ([]sia.Intent, *administration) {
	e, ok := payload.(*gh.CheckSuiteEvent)
	if !ok || e.GetCheckSuite().GetApp().GetSlug() == r.slug {
		return nil, nil
	}
	in := r.intent(e.GetRepo(), e.GetInstallation(), e.GetSender(), nil)
	return []sia.Intent{hint(in, sia.SHA(e.GetCheckSuite().GetHeadSHA()))}, nil
}

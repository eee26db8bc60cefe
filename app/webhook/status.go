package webhook

import (
	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

// readStatus reads "status": a hint for the gate.
func readStatus(payload any, r meta) ([]sia.Intent, *administration) {
	e, ok := payload.(*gh.StatusEvent)
	if !ok {
		return nil, nil
	}
	in := r.intent(e.GetRepo(), e.GetInstallation(), e.GetSender(), nil)
	return []sia.Intent{ended(in, sia.SHA(e.GetSHA()), e.GetState())}, nil
}

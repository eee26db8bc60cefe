package webhook

import (
	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

// readWorkflowRun reads "workflow_run": a hint for the gate once the run is completed, since its logs are ready then.
func readWorkflowRun(payload any, r meta) ([]sia.Intent, *administration) {
	e, ok := payload.(*gh.WorkflowRunEvent)
	if !ok || e.GetAction() != "completed" {
		return nil, nil
	}
	in := r.intent(e.GetRepo(), e.GetInstallation(), e.GetSender(), nil)
	return []sia.Intent{ended(in, sia.SHA(e.GetWorkflowRun().GetHeadSHA()), e.GetWorkflowRun().GetConclusion())}, nil
}

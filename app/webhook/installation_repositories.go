package webhook

import (
	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

// readInstallationRepositories reads "installation_repositories": repositories were added to the installation or
// removed from it.
func readInstallationRepositories(payload any, _ meta) ([]sia.Intent, *administration) {
	e, ok := payload.(*gh.InstallationRepositoriesEvent)
	if !ok {
		return nil, nil
	}
	account := e.GetInstallation().GetAccount().GetLogin()
	return nil, &administration{
		installation: e.GetInstallation().GetID(), account: account, changed: e.GetInstallation().GetUpdatedAt().Time,
		added: repositories(e.RepositoriesAdded, account), removed: repositories(e.RepositoriesRemoved, account),
	}
}

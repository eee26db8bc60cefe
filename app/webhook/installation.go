package webhook

import (
	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// readInstallation reads "installation": the app was installed, removed, suspended or unsuspended, or got new
// permissions.
func readInstallation(payload any, _ meta) ([]sia.Intent, *administration) {
	e, ok := payload.(*gh.InstallationEvent)
	if !ok {
		return nil, nil
	}
	in := e.GetInstallation()
	a := &administration{installation: in.GetID(), account: in.GetAccount().GetLogin(), changed: in.GetUpdatedAt().Time}
	did := func(what string) store.Act {
		return store.Act{Who: e.GetSender().GetLogin(), What: what, Detail: a.account}
	}
	switch e.GetAction() {
	case "created", "new_permissions_accepted", "unsuspend":
		a.added = repositories(e.Repositories, a.account)
		a.permissionsChanged = e.GetAction() == "new_permissions_accepted"
		a.unsuspended = e.GetAction() == "unsuspend"
		if e.GetAction() == "created" {
			a.act = did("install app")
		}
	case "deleted":
		a.endReason, a.act = "the app was uninstalled", did("uninstall app")
	case "suspend":
		a.suspended = true
	default:
		return nil, nil
	}
	return nil, a
}

// repositories reads the short form of repositories in installation events. It has no owner: that is the
// installation's account.
func repositories(list []*gh.Repository, account string) []sia.Repo {
	repos := make([]sia.Repo, 0, len(list))
	for _, r := range list {
		repos = append(repos, sia.Repo{ID: r.GetID(), Owner: account, Name: r.GetName()})
	}
	return repos
}

package world

import (
	"crypto/rsa"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/access"
	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/payload"
)

// DefaultPermissions are an app's permissions by default.
func DefaultPermissions() map[string]string {
	return map[string]string{
		"actions": "write", "administration": "read", "checks": "write", "contents": "write", "issues": "write",
		"metadata": "read", "pull_requests": "write", "statuses": "write", "workflows": "write",
	}
}

// Events are the webhook events of repositories that the simulator sends, in addition to those about installations.
func Events() []string {
	return []string{
		"check_run", "check_suite", "create", "delete", "issue_comment", "issues", "pull_request", "pull_request_review",
		"pull_request_review_comment", "pull_request_review_thread", "push", "status", "workflow_run",
	}
}

// RegisterApp registers an app.
func (w *World) RegisterApp(
	slug, name string, owner *model.User, key *rsa.PrivateKey, permissions map[string]string, events []string,
) *model.App {
	a := w.newApp(slug, name, owner, permissions)
	a.Key, a.Events = key, slices.Clone(events)
	w.AddApp(a)
	return a
}

func (w *World) newApp(slug, name string, owner *model.User, permissions map[string]string) *model.App {
	a := &model.App{ID: w.NextID(), Slug: slug, Name: name, Owner: owner, Made: w.Now(),
		Permissions: maps.Clone(permissions), ClientSecret: access.NewSecret("")}
	a.ClientID = fmt.Sprintf("Iv23li%014d", a.ID)
	a.Bot = w.EnsureUser(slug+"[bot]", "Bot")
	return a
}

// actionsApp is the app that owns the check runs of workflow jobs. Nobody can sign in as it.
func (w *World) actionsApp() *model.App {
	a := w.newApp("github-actions", "GitHub Actions", w.EnsureUser("github", "Organization"),
		map[string]string{"actions": "write", "checks": "write", "contents": "write", "metadata": "read"})
	a.ID = 15368 // its id on github.com
	return a
}

// EnsureApp returns the app of a slug, and creates it if needed: a third-party app without sign-ins here.
func (w *World) EnsureApp(slug string) *model.App {
	if slug == w.actions.Slug {
		return w.actions
	}
	if a := w.AppBySlug(slug); a != nil {
		return a
	}
	a := w.newApp(slug, slug, w.EnsureUser(slug+"-maker", "Organization"),
		map[string]string{"checks": "write", "metadata": "read"})
	w.AddApp(a)
	return a
}

// SetPermissions replaces the permissions of an app and its installations; metadata: read is always granted.
func (w *World) SetPermissions(a *model.App, permissions map[string]string) {
	a.Permissions = maps.Clone(permissions)
	a.Permissions["metadata"] = "read"
	for _, i := range w.Installations() {
		if i.App == a {
			i.Permissions, i.Updated = maps.Clone(a.Permissions), w.Now()
			w.emitInstallation(i, "installation", "new_permissions_accepted",
				object{"repositories": payload.RepositoryStubs(i.Repos)})
		}
	}
}

// Install installs an app for an account on repositories, or on all of them.
// Installing again adds repositories.
func (w *World) Install(a *model.App, account *model.User, all bool, repos []*model.Repository) *model.Installation {
	for _, i := range w.Installations() {
		if i.App == a && i.Account == account {
			w.addRepositories(i, repos)
			return i
		}
	}
	i := &model.Installation{ID: w.NextID(), App: a, Account: account, Repos: repos, Made: w.Now(), Updated: w.Now(),
		AllRepos: all, Permissions: maps.Clone(a.Permissions)}
	w.AddInstallation(i)
	w.noteInstallation(i, "created")
	w.emitInstallation(i, "installation", "created", object{"repositories": payload.RepositoryStubs(repos)})
	return i
}

func (w *World) addRepositories(i *model.Installation, repos []*model.Repository) {
	var added []*model.Repository
	for _, r := range repos {
		if !i.Has(r) {
			i.Repos, added = append(i.Repos, r), append(added, r)
		}
	}
	if len(added) == 0 {
		return
	}
	i.Updated = w.Now()
	for _, r := range added {
		w.note(r, model.As(i.Account), journal.Entry{Kind: "installation_repositories.added", Ref: i.App.Slug})
	}
	w.emitInstallation(i, "installation_repositories", "added", object{
		"repository_selection": i.Selection(), "repositories_added": payload.RepositoryStubs(added),
		"repositories_removed": []object{}, "requester": nil,
	})
}

// RemoveRepositories removes repositories from an installation.
func (w *World) RemoveRepositories(i *model.Installation, repos []*model.Repository) {
	for _, r := range repos {
		w.note(r, model.As(i.Account), journal.Entry{Kind: "installation_repositories.removed", Ref: i.App.Slug})
	}
	i.AllRepos, i.Updated = false, w.Now()
	i.Repos = slices.DeleteFunc(i.Repos, func(r *model.Repository) bool { return slices.Contains(repos, r) })
	w.emitInstallation(i, "installation_repositories", "removed", object{
		"repository_selection": i.Selection(), "repositories_added": []object{},
		"repositories_removed": payload.RepositoryStubs(repos), "requester": nil,
	})
}

// Uninstall removes an installation; its tokens end with it.
func (w *World) Uninstall(i *model.Installation) {
	i.Removed = true
	w.noteInstallation(i, "deleted")
	w.emitInstallation(i, "installation", "deleted", object{"repositories": payload.RepositoryStubs(i.Repos)})
}

// Suspend suspends or resumes an installation; while suspended its tokens are refused.
func (w *World) Suspend(i *model.Installation, suspended bool) {
	action := "unsuspend"
	i.Suspended, i.SuspendedBy = time.Time{}, nil
	if suspended {
		action = "suspend"
		i.Suspended, i.SuspendedBy = w.Now(), i.Account
	}
	w.noteInstallation(i, action)
	w.emitInstallation(i, "installation", action, object{"repositories": payload.RepositoryStubs(i.Repos)})
}

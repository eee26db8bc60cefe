package github

import (
	"context"
	"net/http"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

// Raw is a repository without SIA's waits, retries and caches, for probing GitHub's own behavior.
type Raw struct {
	Repository
	App     Self
	Granted Permissions // to the installation

	API, Web, GraphQL string // addresses; the first two end in a slash
	Noreply           string // mail address of the app's bot

	Installation int64
	Token        string            // for this repository, with all granted permissions; valid for an hour
	Network      http.RoundTripper // unauthenticated
	AsApp        http.RoundTripper // authenticated as the app
}

// Raw connects to a repository by its name.
// https://docs.github.com/en/rest/apps/apps#get-a-repository-installation-for-the-authenticated-app
func (a *App) Raw(ctx context.Context, repo sia.Repo) (Raw, error) {
	r := Raw{API: a.api.String(), Web: a.web.String(), GraphQL: a.graphql, Network: a.cfg.Transport,
		AsApp: &appAuth{next: a.appTransport(a.cfg.Transport), host: a.api.Host}}
	var err error
	if r.App, err = a.Self(ctx); err != nil {
		return Raw{}, err
	}
	r.Noreply = a.Noreply(r.App.UserID, r.App.Login)
	in, _, err := a.gh.Apps.FindRepositoryInstallation(ctx, repo.Owner, repo.Name)
	if err := require(err, in.GetID()); err != nil {
		return Raw{}, a.failure(err, "find the app's installation on %s", repo)
	}
	r.Installation, r.Granted = in.GetID(), permissionsFrom(in.GetPermissions())
	token, _, err := a.gh.Apps.CreateInstallationToken(ctx, r.Installation,
		&gh.InstallationTokenOptions{Repositories: []string{repo.Name}})
	if err := require(err, token.GetToken()); err != nil {
		return Raw{}, a.failure(err, "get a token for %s", repo)
	}
	r.Token = token.GetToken()
	a.cfg.Secrets.Passing("installation-token", r.Token)
	r.Repository, err = a.Repo(r.Installation, repo).Repository(ctx)
	return r, err
}

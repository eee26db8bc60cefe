package github

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// Self is GitHub's record of the app.
type Self struct {
	ID          int64
	Slug        string      // as in github.com/apps/SLUG
	Login       string      // the bot's: "SLUG[bot]"
	UserID      int64       // the bot's; 0: unknown
	Name        string      // for people
	Permissions Permissions // requested by the app
	URL         string      // of the app's page
}

// selfTTL is how long the app's record is cached; its name can be changed while SIA runs. selfRetryAfter is the wait
// before another attempt, if GitHub failed.
const (
	selfTTL        = time.Hour
	selfRetryAfter = time.Minute
)

type selfCache struct {
	mu    sync.Mutex
	self  Self
	until time.Time // when it expires
}

// Self returns GitHub's record of the app. It is cached for an hour, and longer while GitHub fails.
// https://docs.github.com/en/rest/apps/apps#get-the-authenticated-app
func (a *App) Self(ctx context.Context) (Self, error) {
	a.self.mu.Lock()
	defer a.self.mu.Unlock()
	if a.cfg.Now().Before(a.self.until) {
		return a.self.self, nil
	}
	got, _, err := a.gh.Apps.Get(ctx, "")
	if err := require(err, got.GetSlug()); err != nil {
		err = a.failure(err, "read the app itself")
		if a.self.self.Slug == "" {
			return Self{}, err
		}
		a.log.WarnContext(ctx, "the app can't be read; its last answer is used", "error", err)
		a.self.until = a.cfg.Now().Add(selfRetryAfter)
		return a.self.self, nil
	}
	s := Self{
		ID: got.GetID(), Slug: got.GetSlug(), Login: got.GetSlug() + "[bot]", Name: got.GetName(),
		Permissions: permissionsFrom(got.GetPermissions()), URL: got.GetHTMLURL(),
		UserID: a.self.self.UserID,
	}
	if s.UserID == 0 {
		s.UserID = a.userID(ctx, s.Login)
	}
	a.self.self, a.self.until = s, a.cfg.Now().Add(selfTTL)
	if s.UserID == 0 { // the bot's commits have no account; no reason to stop
		a.self.until = a.cfg.Now().Add(selfRetryAfter)
	}
	return s, nil
}

// userID returns the id of an account, or 0 if it can't be read. A server in private mode refuses unauthenticated
// requests; then the token of any installation works.
// https://docs.github.com/en/rest/users/users#get-a-user
func (a *App) userID(ctx context.Context, login string) int64 {
	login = url.PathEscape(login)
	u, _, err := a.anon.Users.Get(ctx, login)
	if err != nil {
		installed, _ := a.Installations(ctx) // without any there are no commits yet
		for _, in := range installed {
			if !in.Suspended {
				u, _, _ = a.installation(in.ID).lists.Users.Get(ctx, login)
				break
			}
		}
	}
	return u.GetID()
}

// Author returns the app as the author of a commit made at a time.
func (a *App) Author(ctx context.Context, at time.Time) (gitops.Signature, error) {
	self, err := a.Self(ctx)
	if err != nil {
		return gitops.Signature{}, err
	}
	return gitops.Signature{Name: self.Login, Email: a.Noreply(self.UserID, self.Login), When: at}, nil
}

// Noreply returns the address by which GitHub attributes commits to an account. An account with an unknown id, 0, has
// the older form without it. Each GitHub has its own domain for these; if its host is an IP address, which is no mail
// domain, it is github.com's.
// https://docs.github.com/en/account-and-profile/reference/email-addresses-reference#your-noreply-email-address
// https://docs.github.com/en/enterprise-server/account-and-profile/setting-up-and-managing-your-personal-account-on-github/managing-email-preferences/setting-your-commit-email-address
func (a *App) Noreply(id int64, login string) string {
	host := a.web.Hostname()
	if !strings.Contains(host, ".") || net.ParseIP(host) != nil {
		host = "github.com"
	}
	if id != 0 {
		login = strconv.FormatInt(id, 10) + "+" + login
	}
	return login + "@users.noreply." + host
}

// Installation is an installation of the app in one account.
type Installation struct {
	ID          int64
	Account     string // login of the organisation or user
	Suspended   bool
	Updated     time.Time
	Permissions Permissions // granted
	Events      []string    // that it is subscribed to
}

// Installations returns every installation of the app.
// https://docs.github.com/en/rest/apps/apps#list-installations-for-the-authenticated-app
func (a *App) Installations(ctx context.Context) ([]Installation, error) {
	var out []Installation
	for in, err := range eachPage(func(o gh.ListOptions) ([]*gh.Installation, *gh.Response, error) {
		return a.gh.Apps.ListInstallations(ctx, &o)
	}) {
		if err != nil {
			return nil, a.failure(err, "list installations")
		}
		out = append(out, installationFrom(in))
	}
	return out, nil
}

func installationFrom(in *gh.Installation) Installation {
	return Installation{
		ID: in.GetID(), Account: in.GetAccount().GetLogin(),
		Suspended: in.SuspendedAt != nil, Updated: in.GetUpdatedAt().Time,
		Permissions: permissionsFrom(in.GetPermissions()), Events: in.Events,
	}
}

// Installation returns an installation of the app, or false if it does not exist.
// https://docs.github.com/en/rest/apps/apps#get-an-installation-for-the-authenticated-app
func (a *App) Installation(ctx context.Context, id int64) (in Installation, ok bool, err error) {
	got, _, err := a.gh.Apps.GetInstallation(ctx, id)
	return a.asInstallation(got, err, "read installation %d", id)
}

// InstallationOn returns the installation that covers a repository, or false if there is none.
// https://docs.github.com/en/rest/apps/apps#get-a-repository-installation-for-the-authenticated-app
func (a *App) InstallationOn(ctx context.Context, repo sia.Repo) (in Installation, ok bool, err error) {
	got, _, err := a.gh.Apps.FindRepositoryInstallation(ctx, repo.Owner, repo.Name)
	return a.asInstallation(got, err, "read the installation on %s", repo)
}

func (a *App) asInstallation(got *gh.Installation, err error, format string, args ...any) (Installation, bool, error) {
	if statusOf(err) == http.StatusNotFound {
		return Installation{}, false, nil
	}
	if err := require(err, got.GetID()); err != nil {
		return Installation{}, false, a.failure(err, format, args...)
	}
	return installationFrom(got), true, nil
}

// Repository is a repository with the properties that SIA uses.
type Repository struct {
	sia.Repo
	DefaultBranch string
	Private       bool
	Archived      bool // read-only
	IssuesOff     bool // in the settings of the repository
}

// Repositories returns the repositories that the app can access in an installation.
// https://docs.github.com/en/rest/apps/installations#list-repositories-accessible-to-the-app-installation
func (a *App) Repositories(ctx context.Context, installation int64) ([]Repository, error) {
	lists := a.installation(installation).lists
	var out []Repository
	for r, err := range eachPage(func(o gh.ListOptions) ([]*gh.Repository, *gh.Response, error) {
		got, resp, err := lists.Apps.ListRepos(ctx, &o)
		if err != nil {
			return nil, resp, err
		}
		return got.Repositories, resp, nil
	}) {
		if err != nil {
			return nil, a.failure(err, "list repositories of installation %d", installation)
		}
		out = append(out, repositoryFrom(r))
	}
	return out, nil
}

// RepositoryCount returns the number of repositories that the app can access in an installation, in one request.
// https://docs.github.com/en/rest/apps/installations#list-repositories-accessible-to-the-app-installation
func (a *App) RepositoryCount(ctx context.Context, installation int64) (int, error) {
	got, _, err := a.installation(installation).lists.Apps.ListRepos(ctx, &gh.ListOptions{PerPage: 1})
	if err != nil {
		return 0, a.failure(err, "count the repositories of installation %d", installation)
	}
	return got.GetTotalCount(), nil
}

func repositoryFrom(r *gh.Repository) Repository {
	return Repository{
		Repo:          sia.Repo{ID: r.GetID(), Owner: r.GetOwner().GetLogin(), Name: r.GetName()},
		DefaultBranch: r.GetDefaultBranch(), Private: r.GetPrivate(), Archived: r.GetArchived(),
		IssuesOff: r.HasIssues != nil && !*r.HasIssues,
	}
}

package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	gh "github.com/google/go-github/v66/github"
	"golang.org/x/sync/errgroup"

	"github.com/sia-bot/sia/sia"
)

// maxPersonAnswer is the maximum size of a response to a user's request, in bytes.
const maxPersonAnswer = 8 << 20

// ErrRevoked reports that GitHub no longer accepts a user's token.
var ErrRevoked = errors.New("GitHub does not accept the sign-in any more")

// People sends requests to GitHub as users who signed in with the app, with their own tokens. It is safe for
// concurrent use.
//
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/authenticating-with-a-github-app-on-behalf-of-a-user
type People struct {
	api    *url.URL
	client *http.Client // unauthenticated
}

// NewPeople returns a People for the REST API at an address. A nil transport means the network.
func NewPeople(api string, transport http.RoundTripper) (*People, error) {
	base, err := httpURL(api)
	if err != nil {
		return nil, fmt.Errorf("GitHub's API: %w", err)
	}
	if transport == nil {
		transport = http.DefaultTransport
	}
	again := &retrier{next: transport, sleep: Sleep, allow: func(*http.Request) error { return nil }}
	return &People{api: base,
		client: &http.Client{Transport: strictTransport{again, maxPersonAnswer}, CheckRedirect: noRedirect,
			Timeout: requestTimeout}}, nil
}

// noRedirect follows no redirect: it would pass on a token or a code.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// clientFor returns a client that is authenticated by a user's token.
func (p *People) clientFor(token string) *gh.Client {
	c := gh.NewClient(p.client).WithAuthToken(token)
	c.BaseURL, c.UserAgent = p.api, "sia"
	return c
}

// Who returns the user of a token. The token is new, so a 401 is retried: some of GitHub's replicas may not have it
// yet.
// https://docs.github.com/en/rest/users/users#get-the-authenticated-user
func (p *People) Who(ctx context.Context, token string) (sia.Actor, error) {
	u, _, err := p.clientFor(token).Users.Get(ctx, "")
	for wait := time.Second; statusOf(err) == http.StatusUnauthorized && wait <= newTokenWait; wait *= 2 {
		if err := Sleep(ctx, wait); err != nil {
			return sia.Actor{}, fmt.Errorf("ask GitHub who signs in: %w", err)
		}
		u, _, err = p.clientFor(token).Users.Get(ctx, "")
	}
	if err != nil {
		return sia.Actor{}, fmt.Errorf("ask GitHub who signs in: %w", revoked(err))
	}
	return sia.Actor{Login: u.GetLogin(), ID: u.GetID()}, nil
}

// Reached is an installation of the app that a user can access, with the accessible repositories.
type Reached struct {
	ID        int64
	Account   string
	AccountID int64
	Repos     map[int64]map[string]bool // the user's permissions, such as push, by the repository's id
}

// reachTimeout limits the time of one [People.Reach], and reachConcurrency its concurrent requests.
const (
	reachTimeout     = 30 * time.Second
	reachConcurrency = 8
)

// errReachTimeout reports that reachTimeout has expired.
var errReachTimeout = fmt.Errorf("GitHub has not said within %s what a person reaches", reachTimeout)

// Reach returns what both the user and the app can access, by installation. It reads at most a number of pages of a
// hundred entries, for at most half a minute; complete is false if there are more. It omits suspended installations,
// and those that the user can't access, for instance without single sign-on.
//
// https://docs.github.com/en/rest/apps/installations#list-app-installations-accessible-to-the-user-access-token
// https://docs.github.com/en/rest/apps/installations#list-repositories-accessible-to-the-user-access-token
func (p *People) Reach(ctx context.Context, token string, pages int) (all []Reached, complete bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, reachTimeout, errReachTimeout)
	defer cancel()
	l := accessLookup{apps: p.clientFor(token).Apps, pages: pages}
	err = l.installations(ctx)
	if err == nil {
		err = l.repositories(ctx)
	}
	complete, repos := err == nil, 0
	for _, in := range l.found {
		complete = complete && in.asked == in.last
		if !in.excluded {
			all, repos = append(all, in.Reached), repos+len(in.Repos)
		}
	}
	if err != nil && errors.Is(context.Cause(ctx), errReachTimeout) {
		if err = nil; repos == 0 {
			err = errReachTimeout
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("ask GitHub what a person reaches: %w", revoked(err))
	}
	return all, complete, nil
}

// accessLookup is one lookup of a user's access.
type accessLookup struct {
	apps  *gh.AppsService
	pages int // remaining number of pages to read

	mu    sync.Mutex // guards the elements of found while responses are added
	found []*installationAccess
}

// installationAccess is an installation in the lookup.
type installationAccess struct {
	Reached
	excluded    bool // the user can't access it
	asked, last int  // numbers of pages of its repositories: requested, and known from the responses
}

// installations lists the installations that the user can access.
func (l *accessLookup) installations(ctx context.Context) error {
	for in, err := range eachPage(func(o gh.ListOptions) ([]*gh.Installation, *gh.Response, error) {
		l.pages--
		return l.apps.ListUserInstallations(ctx, &o)
	}) {
		switch {
		case err != nil:
			return err
		case in.Account != nil && in.GetAccount().GetID() == 0:
			return errIncomplete
		case in.SuspendedAt == nil:
			l.found = append(l.found, &installationAccess{last: 1, Reached: Reached{ID: in.GetID(),
				Account: in.GetAccount().GetLogin(), AccountID: in.GetAccount().GetID(), Repos: map[int64]map[string]bool{}}})
		}
	}
	slices.SortFunc(l.found, func(a, b *installationAccess) int { return cmp.Compare(a.ID, b.ID) })
	return nil
}

// repositories lists the repositories that the user can access in the installations: first the first page of each,
// then the pages that the responses report, concurrently.
func (l *accessLookup) repositories(ctx context.Context) error {
	for {
		batch := 0
		asked, ctx := errgroup.WithContext(ctx)
		asked.SetLimit(reachConcurrency)
		for _, in := range l.found {
			l.mu.Lock()
			last := in.last
			l.mu.Unlock()
			for ; in.asked < last && l.pages > 0; l.pages-- {
				in.asked++
				number := in.asked
				batch++
				asked.Go(func() error { return l.page(ctx, in, number) })
			}
		}
		if err := asked.Wait(); err != nil || batch == 0 {
			return err
		}
	}
}

// page reads one page of the repositories in an installation.
func (l *accessLookup) page(ctx context.Context, in *installationAccess, number int) error {
	page, resp, err := l.apps.ListUserRepos(ctx, in.ID, &gh.ListOptions{Page: number, PerPage: perPage})
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case isExcluded(err):
		in.excluded = true
		return nil
	case err != nil:
		return err
	}
	for _, r := range page.Repositories {
		in.Repos[r.GetID()] = r.GetPermissions()
	}
	in.last = max(in.last, resp.LastPage, resp.NextPage)
	return nil
}

// isExcluded reports whether GitHub denies a user access to an installation. A rate limit is a different error.
func isExcluded(err error) bool {
	code := statusOf(err)
	return code == http.StatusForbidden || code == http.StatusNotFound
}

// revoked returns ErrRevoked if GitHub refused a token, and otherwise err.
func revoked(err error) error {
	if statusOf(err) == http.StatusUnauthorized {
		return ErrRevoked
	}
	return err
}

// RevokeToken revokes a user's token. It succeeds if the token is revoked already.
// https://docs.github.com/en/rest/apps/oauth-applications#delete-an-app-token
func (p *People) RevokeToken(ctx context.Context, clientID, clientSecret, token string) error {
	basic := &gh.BasicAuthTransport{Username: clientID, Password: clientSecret, Transport: p.client.Transport}
	c := gh.NewClient(&http.Client{Transport: basic, CheckRedirect: p.client.CheckRedirect})
	c.BaseURL, c.UserAgent = p.api, "sia"
	_, err := c.Authorizations.Revoke(ctx, clientID, token)
	if statusOf(err) == http.StatusNotFound {
		return nil
	}
	return err
}

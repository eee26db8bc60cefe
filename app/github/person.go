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
	return &People{api: base,
		client: &http.Client{Transport: strictTransport{retryOnce{transport}, maxPersonAnswer}, CheckRedirect: noRedirect,
			Timeout: requestTimeout}}, nil
}

// noRedirect follows no redirect: it would pass on a token or a code.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// retryOnce retries a failed GET once.
type retryOnce struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b retryOnce) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if r.Method == http.MethodGet && isTransient(resp, err) && r.Context().Err() == nil {
		if err == nil {
			discard(resp)
		}
		resp, err = b.next.RoundTrip(r)
	}
	return resp, err
}

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
		if err := sleep(ctx, wait); err != nil {
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

// Reach returns what both a user and the app can access, by installation. It reads at most a number of pages of a
// hundred entries, for at most half a minute; complete is false if there are more. It omits suspended installations,
// and those that the user can't access, for instance without single sign-on.
//
// https://docs.github.com/en/rest/apps/installations#list-app-installations-accessible-to-the-user-access-token
// https://docs.github.com/en/rest/apps/installations#list-repositories-accessible-to-the-user-access-token
func (p *People) Reach(ctx context.Context, token string, pages int) (all []Reached, complete bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, reachTimeout, errReachTimeout)
	defer cancel()
	l := &accessLookup{apps: p.clientFor(token).Apps, pages: pages}
	err = l.installations(ctx)
	if err == nil {
		err = l.repositories(ctx)
	}
	found := 0
	for _, r := range l.found {
		if !r.excluded {
			all, found = append(all, r.Reached), found+len(r.Repos)
		}
	}
	if err != nil && errors.Is(context.Cause(ctx), errReachTimeout) {
		l.truncated, err = true, nil
		if found == 0 {
			err = errReachTimeout
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("ask GitHub what a person reaches: %w", revoked(err))
	}
	return all, !l.truncated, nil
}

// accessLookup is one lookup of a user's access.
type accessLookup struct {
	apps      *gh.AppsService
	pages     int  // remaining number of pages to read
	truncated bool // there are more pages

	mu    sync.Mutex // guards found while responses are added
	found []*installationAccess
}

// installationAccess is an installation in the lookup.
type installationAccess struct {
	Reached
	excluded bool // the user can't access it
}

// installations lists the installations that the user can access.
func (l *accessLookup) installations(ctx context.Context) error {
	err := l.fetchPages(ctx, 1, func(ctx context.Context, _ int, o gh.ListOptions) (*gh.Response, error) {
		page, resp, err := l.apps.ListUserInstallations(ctx, &o)
		if err != nil {
			return resp, err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, in := range page {
			if in.Account != nil && in.GetAccount().GetID() == 0 {
				return resp, errIncomplete
			}
			if in.SuspendedAt == nil {
				l.found = append(l.found, &installationAccess{Reached: Reached{ID: in.GetID(),
					Account: in.GetAccount().GetLogin(), AccountID: in.GetAccount().GetID(), Repos: map[int64]map[string]bool{}}})
			}
		}
		return resp, nil
	})
	slices.SortFunc(l.found, func(a, b *installationAccess) int { return cmp.Compare(a.ID, b.ID) })
	return err
}

// repositories lists the repositories that the user can access in the installations.
func (l *accessLookup) repositories(ctx context.Context) error {
	return l.fetchPages(ctx, len(l.found), func(ctx context.Context, of int, o gh.ListOptions) (*gh.Response, error) {
		in := l.found[of]
		page, resp, err := l.apps.ListUserRepos(ctx, in.ID, &o)
		l.mu.Lock()
		defer l.mu.Unlock()
		switch {
		case isExcluded(err):
			in.excluded = true
			return resp, nil
		case err != nil:
			return resp, err
		}
		for _, r := range page.Repositories {
			in.Repos[r.GetID()] = r.GetPermissions()
		}
		return resp, nil
	})
}

// fetchPages reads a number of lists within the limit on pages: first the first page of each, then concurrently the
// pages that the responses report.
func (l *accessLookup) fetchPages(
	ctx context.Context, lists int, ask func(ctx context.Context, list int, o gh.ListOptions) (*gh.Response, error),
) error {
	type page struct{ list, number int }
	wanted := make([]int, lists) // number of pages of each list that are read or in next
	var next []page
	for i := range wanted {
		wanted[i], next = 1, append(next, page{i, 1})
	}
	for len(next) > 0 {
		batch := next[:min(len(next), l.pages)]
		l.truncated, l.pages = l.truncated || len(batch) < len(next), l.pages-len(batch)
		last := make([]int, len(batch)) // number of pages, according to the responses
		asked, ctx := errgroup.WithContext(ctx)
		asked.SetLimit(reachConcurrency)
		for i, p := range batch {
			asked.Go(func() error {
				resp, err := ask(ctx, p.list, gh.ListOptions{Page: p.number, PerPage: perPage})
				if err == nil {
					last[i] = max(resp.LastPage, resp.NextPage)
				}
				return err
			})
		}
		if err := asked.Wait(); err != nil {
			return err
		}
		next = nil
		for i, p := range batch {
			for ; wanted[p.list] < last[i] && len(next) <= l.pages; wanted[p.list]++ {
				next = append(next, page{p.list, wanted[p.list] + 1})
			}
		}
	}
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

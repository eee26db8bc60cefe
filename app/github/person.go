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

// maxPersonAnswer bounds one answer to a person, in bytes.
const maxPersonAnswer = 8 << 20

// ErrRevoked is GitHub's answer to a person's token that it does not accept any more.
var ErrRevoked = errors.New("GitHub does not accept the sign-in any more")

// People asks GitHub as people who signed in with the app, with their own tokens. It is safe for concurrent use.
//
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/authenticating-with-a-github-app-on-behalf-of-a-user
type People struct {
	api    *url.URL
	client *http.Client // not signed in
}

// NewPeople asks the REST API at an address. transport may be nil, for the network.
func NewPeople(api string, transport http.RoundTripper) (*People, error) {
	base, err := httpURL(api)
	if err != nil {
		return nil, fmt.Errorf("GitHub's API: %w", err)
	}
	if transport == nil {
		transport = http.DefaultTransport
	}
	return &People{api: base,
		client: &http.Client{Transport: strictTransport{askAgain{transport}, maxPersonAnswer}, CheckRedirect: noRedirect,
			Timeout: requestTimeout}}, nil
}

// stay follows no redirect: a token or a code would go along.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// askAgain asks again, once, what only reads and was not answered.
type askAgain struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b askAgain) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if r.Method == http.MethodGet && isTransient(resp, err) && r.Context().Err() == nil {
		if err == nil {
			discard(resp)
		}
		resp, err = b.next.RoundTrip(r)
	}
	return resp, err
}

// as is GitHub for who has a token.
func (p *People) as(token string) *gh.Client {
	c := gh.NewClient(p.client).WithAuthToken(token)
	c.BaseURL, c.UserAgent = p.api, "sia"
	return c
}

// Who is the person that a token is for, which was just made: where GitHub does not know it, it is asked again.
// https://docs.github.com/en/rest/users/users#get-the-authenticated-user
func (p *People) Who(ctx context.Context, token string) (sia.Actor, error) {
	u, _, err := p.as(token).Users.Get(ctx, "")
	for wait := time.Second; statusOf(err) == http.StatusUnauthorized && wait <= newTokenWait; wait *= 2 {
		if err := sleep(ctx, wait); err != nil {
			return sia.Actor{}, fmt.Errorf("ask GitHub who signs in: %w", err)
		}
		u, _, err = p.as(token).Users.Get(ctx, "")
	}
	if err != nil {
		return sia.Actor{}, fmt.Errorf("ask GitHub who signs in: %w", revoked(err))
	}
	return sia.Actor{Login: u.GetLogin(), ID: u.GetID()}, nil
}

// Reached is an installation of the app that a person reaches something of.
type Reached struct {
	ID        int64
	Account   string
	AccountID int64
	Repos     map[int64]map[string]bool // the person's permissions, such as push, by the repository's id
}

// reachFor bounds what is asked for one [People.Reach], and atOnce how many of its requests are under way at a time.
const (
	reachFor = 30 * time.Second
	atOnce   = 8
)

// errLate says that reachFor is over.
var errLate = fmt.Errorf("GitHub has not said within %s what a person reaches", reachFor)

// Reach returns what both a person and the app reach, by the installations' ids. No more than a number of pages of a
// hundred entries are asked for, and none after half a minute; whole is false when there would have been more. An
// installation that keeps the person out, for want of single sign-on for instance, is left out, and so is a suspended
// one.
//
// https://docs.github.com/en/rest/apps/installations#list-app-installations-accessible-to-the-user-access-token
// https://docs.github.com/en/rest/apps/installations#list-repositories-accessible-to-the-user-access-token
func (p *People) Reach(ctx context.Context, token string, pages int) (all []Reached, whole bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, reachFor, errLate)
	defer cancel()
	l := &personLook{apps: p.as(token).Apps, pages: pages}
	err = l.installations(ctx)
	if err == nil {
		err = l.repositories(ctx)
	}
	found := 0
	for _, r := range l.found {
		if !r.out {
			all, found = append(all, r.Reached), found+len(r.Repos)
		}
	}
	if err != nil && errors.Is(context.Cause(ctx), errLate) {
		l.cut, err = true, nil
		if found == 0 {
			err = errLate
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("ask GitHub what a person reaches: %w", revoked(err))
	}
	return all, !l.cut, nil
}

// personLook is one look at what a person reaches.
type personLook struct {
	apps  *gh.AppsService
	pages int  // that may still be asked for
	cut   bool // there would have been more

	mu    sync.Mutex // held for what answers add
	found []*lookedAt
}

// lookedAt is an installation that is looked at.
type lookedAt struct {
	Reached
	out bool // GitHub keeps the person out of it
}

// installations are those that the person reaches something of.
func (l *personLook) installations(ctx context.Context) error {
	err := l.paged(ctx, 1, func(ctx context.Context, _ int, o gh.ListOptions) (*gh.Response, error) {
		page, resp, err := l.apps.ListUserInstallations(ctx, &o)
		if err != nil {
			return resp, err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, in := range page {
			if in.SuspendedAt == nil {
				l.found = append(l.found, &lookedAt{Reached: Reached{ID: in.GetID(), Account: in.GetAccount().GetLogin(),
					AccountID: in.GetAccount().GetID(), Repos: map[int64]map[string]bool{}}})
			}
		}
		return resp, nil
	})
	slices.SortFunc(l.found, func(a, b *lookedAt) int { return cmp.Compare(a.ID, b.ID) })
	return err
}

// repositories are those that the person reaches of the installations.
func (l *personLook) repositories(ctx context.Context) error {
	return l.paged(ctx, len(l.found), func(ctx context.Context, of int, o gh.ListOptions) (*gh.Response, error) {
		in := l.found[of]
		page, resp, err := l.apps.ListUserRepos(ctx, in.ID, &o)
		l.mu.Lock()
		defer l.mu.Unlock()
		switch {
		case keptOut(err):
			in.out = true
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

// paged asks for a number of lists, as far as there are pages left: for the first page of each, and then at the same
// time for those that answers say are behind it.
func (l *personLook) paged(
	ctx context.Context, lists int, ask func(ctx context.Context, list int, o gh.ListOptions) (*gh.Response, error),
) error {
	type page struct{ list, number int }
	wanted := make([]int, lists) // the pages of each list that were asked for, or will be next
	var next []page
	for i := range wanted {
		wanted[i], next = 1, append(next, page{i, 1})
	}
	for len(next) > 0 {
		batch := next[:min(len(next), l.pages)]
		l.cut, l.pages = l.cut || len(batch) < len(next), l.pages-len(batch)
		last := make([]int, len(batch)) // pages, as far as the answers know
		asked, ctx := errgroup.WithContext(ctx)
		asked.SetLimit(atOnce)
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

// keptOut reports whether GitHub keeps a person out of an installation. A rate limit is no such thing.
func keptOut(err error) bool {
	code := statusOf(err)
	return code == http.StatusForbidden || code == http.StatusNotFound
}

// revoked is ErrRevoked for GitHub's refusal of a token, and err for all else.
func revoked(err error) error {
	if statusOf(err) == http.StatusUnauthorized {
		return ErrRevoked
	}
	return err
}

// GiveBack ends a person's token. One that has ended already is no error.
// https://docs.github.com/en/rest/apps/oauth-applications#delete-an-app-token
func (p *People) GiveBack(ctx context.Context, clientID, clientSecret, token string) error {
	basic := &gh.BasicAuthTransport{Username: clientID, Password: clientSecret, Transport: p.client.Transport}
	c := gh.NewClient(&http.Client{Transport: basic, CheckRedirect: p.client.CheckRedirect})
	c.BaseURL, c.UserAgent = p.api, "sia"
	_, err := c.Authorizations.Revoke(ctx, clientID, token)
	if statusOf(err) == http.StatusNotFound {
		return nil
	}
	return err
}

package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	gh "github.com/google/go-github/v66/github"

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
		client: &http.Client{Transport: wholeAnswers{askAgain{transport}, maxPersonAnswer}, CheckRedirect: stay}}, nil
}

// stay follows no redirect: a token or a code would go along.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// askAgain asks again, once, what only reads and was not answered.
type askAgain struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b askAgain) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if r.Method == http.MethodGet && isBroken(resp, err) && r.Context().Err() == nil {
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

// Who is the person that a token is for.
// https://docs.github.com/en/rest/users/users#get-the-authenticated-user
func (p *People) Who(ctx context.Context, token string) (sia.Actor, error) {
	u, _, err := p.as(token).Users.Get(ctx, "")
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

// Reach returns what both a person and the app reach. No more than a number of pages of a hundred entries are asked
// for; whole is false when there would have been more. An installation that keeps the person out, for want of single
// sign-on for instance, is left out, and so is a suspended one.
//
// https://docs.github.com/en/rest/apps/installations#list-app-installations-accessible-to-the-user-access-token
// https://docs.github.com/en/rest/apps/installations#list-repositories-accessible-to-the-user-access-token
func (p *People) Reach(ctx context.Context, token string, pages int) (all []Reached, whole bool, err error) {
	l := &personLook{client: p.as(token), pages: pages}
	err = l.paged(func(o gh.ListOptions) (*gh.Response, error) {
		page, resp, err := l.client.Apps.ListUserInstallations(ctx, &o)
		for _, in := range page {
			if err != nil || in.SuspendedAt != nil {
				continue
			}
			r := Reached{ID: in.GetID(), Account: in.GetAccount().GetLogin(), AccountID: in.GetAccount().GetID()}
			if r.Repos, err = l.repositories(ctx, r.ID); err == nil {
				all = append(all, r)
			} else if keptOut(err) {
				err = nil
			}
		}
		return resp, err
	})
	if err != nil {
		return nil, false, fmt.Errorf("ask GitHub what a person reaches: %w", revoked(err))
	}
	return all, !l.cut, nil
}

// personLook is one look at what a person reaches.
type personLook struct {
	client *gh.Client
	pages  int  // that may still be asked for
	cut    bool // there would have been more
}

// paged walks a list as long as there are pages left.
func (l *personLook) paged(fetch func(gh.ListOptions) (*gh.Response, error)) error {
	for o := (gh.ListOptions{PerPage: perPage, Page: 1}); ; {
		if l.pages == 0 {
			l.cut = true
			return nil
		}
		l.pages--
		resp, err := fetch(o)
		if err != nil {
			return err
		}
		if resp.NextPage <= o.Page {
			return nil
		}
		o.Page = resp.NextPage
	}
}

// repositories are those that the person reaches of an installation.
func (l *personLook) repositories(ctx context.Context, installation int64) (map[int64]map[string]bool, error) {
	repos := map[int64]map[string]bool{}
	err := l.paged(func(o gh.ListOptions) (*gh.Response, error) {
		list, resp, err := l.client.Apps.ListUserRepos(ctx, installation, &o)
		if err != nil {
			return resp, err
		}
		for _, r := range list.Repositories {
			repos[r.GetID()] = r.GetPermissions()
		}
		return resp, nil
	})
	return repos, err
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

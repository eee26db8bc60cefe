package signin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
)

// Bounds of what is asked of GitHub for one person: the time of one look, pages of a hundred, bytes of an answer.
const (
	askFor    = 10 * time.Second
	perPage   = 100
	maxPages  = 100
	maxAnswer = 8 << 20
)

// errRevoked is GitHub's answer to a token that it does not accept any more.
var errRevoked = errors.New("GitHub does not accept the sign-in any more")

func isRevoked(err error) bool { return errors.Is(err, errRevoked) }

// forge asks GitHub as a person, with the person's token.
type forge struct {
	client    *http.Client // not signed in
	api       *url.URL
	installed Installed
	log       *slog.Logger
}

func newForge(c Config) (*forge, error) {
	api, err := url.Parse(c.API)
	if err != nil || api.Host == "" {
		return nil, fmt.Errorf("sign-in: %q is no address of GitHub's API", c.API)
	}
	if api.Path == "" || api.Path[len(api.Path)-1] != '/' {
		api.Path += "/"
	}
	network := c.Transport
	if network == nil {
		network = http.DefaultTransport
	}
	// A redirect is not followed: the token would go along.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &forge{client: &http.Client{Transport: bounded{network}, CheckRedirect: stay}, api: api, installed: c.Installed,
		log: c.Logger}, nil
}

// bounded asks again, once, what only reads and was not answered, and bounds answers.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if r.Method == http.MethodGet && (err != nil || resp.StatusCode >= 500) && r.Context().Err() == nil {
		if err == nil {
			resp.Body.Close()
		}
		resp, err = b.next.RoundTrip(r)
	}
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	}
	return resp, err
}

// as is GitHub for who has a token.
func (f *forge) as(token string) *gh.Client {
	c := gh.NewClient(f.client).WithAuthToken(token)
	c.BaseURL, c.UserAgent = f.api, "sia"
	return c
}

// who is the person that a token is for.
func (f *forge) who(ctx context.Context, token string) (sia.Actor, error) {
	u, _, err := f.as(token).Users.Get(ctx, "")
	if err == nil && (u.GetID() == 0 || u.GetLogin() == "") {
		err = errors.New("the answer names nobody")
	}
	if err != nil {
		return sia.Actor{}, fmt.Errorf("ask GitHub who signs in: %w", refusal(err))
	}
	return sia.Actor{Login: u.GetLogin(), ID: u.GetID()}, nil
}

// viewer is what a person may see: the repositories that both they and the app reach, with their role there.
// https://docs.github.com/en/rest/apps/installations#list-app-installations-accessible-to-the-user-access-token
func (f *forge) viewer(ctx context.Context, s session) (viewer.Viewer, error) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	l := &look{forge: f, person: f.as(s.Token), pages: maxPages, viewer: viewer.Viewer{
		Actor: sia.Actor{Login: s.Login, ID: s.UserID}, Repos: map[int64]viewer.Role{}}}
	err := l.paged(func(o gh.ListOptions) (*gh.Response, error) {
		all, resp, err := l.person.Apps.ListUserInstallations(ctx, &o)
		for _, in := range all {
			if err == nil && in.SuspendedAt == nil {
				err = l.installation(ctx, in)
			}
		}
		return resp, err
	})
	if err != nil {
		return viewer.Viewer{}, fmt.Errorf("ask GitHub what a person may see: %w", refusal(err))
	}
	if l.pages == 0 {
		f.log.WarnContext(ctx, "a person reaches more repositories than are looked at; they see the first ones", "login",
			s.Login, "repositories", len(l.viewer.Repos))
	}
	return l.viewer, nil
}

// look is one look at what a person may see.
type look struct {
	forge  *forge
	person *gh.Client
	pages  int // that may still be asked for
	viewer viewer.Viewer
}

// paged walks a list of GitHub's as long as there are pages left.
func (l *look) paged(fetch func(gh.ListOptions) (*gh.Response, error)) error {
	for o := (gh.ListOptions{PerPage: perPage, Page: 1}); l.pages > 0; {
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
	return nil
}

// installation adds what the person reaches of one installation. One that does not let them in, for want of single
// sign-on for instance, shows them nothing.
func (l *look) installation(ctx context.Context, in *gh.Installation) error {
	administered, others := 0, 0
	err := l.paged(func(o gh.ListOptions) (*gh.Response, error) {
		list, resp, err := l.person.Apps.ListUserRepos(ctx, in.GetID(), &o)
		if err != nil {
			return resp, err
		}
		for _, r := range list.Repositories {
			role := roleOf(r.GetPermissions())
			if role == viewer.Administers {
				administered++
			} else {
				others++
			}
			if role > viewer.None {
				l.viewer.Repos[r.GetID()] = role
			}
		}
		return resp, nil
	})
	if closed(err) {
		return nil
	}
	if err != nil {
		return err
	}
	whole := in.GetAccount().GetID() == l.viewer.Actor.ID
	if !whole && others == 0 && administered > 0 {
		// They see no more than they reach; how many there are in all, only the app knows.
		all, err := l.forge.installed.Repositories(ctx, in.GetID())
		if err != nil {
			return err
		}
		whole = true
		for _, r := range all {
			whole = whole && l.viewer.Repos[r.ID] == viewer.Administers
		}
	}
	l.viewer.Installations = append(l.viewer.Installations,
		viewer.Installation{ID: in.GetID(), Account: in.GetAccount().GetLogin(), Whole: whole})
	return nil
}

// roleOf is a role of GitHub's as SIA distinguishes them. Who triages can't push, so commands of theirs don't count.
// https://docs.github.com/en/organizations/managing-user-access-to-your-organizations-repositories/managing-repository-roles/repository-roles-for-an-organization
func roleOf(p map[string]bool) viewer.Role {
	switch {
	case p["admin"]:
		return viewer.Administers
	case p["maintain"] || p["push"]:
		return viewer.Writes
	case p["triage"] || p["pull"]:
		return viewer.Reads
	}
	return viewer.None
}

// closed reports whether GitHub keeps a person out of an installation. A rate limit is no such thing.
func closed(err error) bool {
	var refused *gh.ErrorResponse
	if !errors.As(err, &refused) || refused.Response == nil {
		return false
	}
	code := refused.Response.StatusCode
	return code == http.StatusForbidden || code == http.StatusNotFound
}

// refusal is errRevoked for GitHub's refusal of a token, and err for all else.
func refusal(err error) error {
	var refused *gh.ErrorResponse
	if errors.As(err, &refused) && refused.Response != nil && refused.Response.StatusCode == http.StatusUnauthorized {
		return errRevoked
	}
	return err
}

// giveBack ends a person's token at GitHub.
// https://docs.github.com/en/rest/apps/oauth-applications#delete-an-app-token
func (f *forge) giveBack(ctx context.Context, clientID, clientSecret, token string) error {
	basic := &gh.BasicAuthTransport{Username: clientID, Password: clientSecret, Transport: f.client.Transport}
	c := gh.NewClient(&http.Client{Transport: basic, CheckRedirect: f.client.CheckRedirect})
	c.BaseURL, c.UserAgent = f.api, "sia"
	resp, err := c.Authorizations.Revoke(ctx, clientID, token)
	if resp != nil && resp.StatusCode == http.StatusNotFound {
		return nil // it had ended already
	}
	return err
}

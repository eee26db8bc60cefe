package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia/secret"
)

// convertFor bounds a conversation with GitHub during set-up, and maxAnswer its answers in bytes.
const (
	convertFor = 30 * time.Second
	maxAnswer  = 1 << 20
)

// code is what GitHub's codes look like. One becomes part of an address.
var code = regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`)

// convert gets an app's keys for a code, which works once and for an hour.
// https://docs.github.com/en/rest/apps/apps#create-a-github-app-from-a-manifest
func (g *Registration) convert(ctx context.Context, c choice, codeText string) (Registered, error) {
	if !code.MatchString(codeText) {
		return Registered{}, errors.New("GitHub's answer holds no code; begin again")
	}
	ctx, cancel := context.WithTimeout(ctx, convertFor)
	defer cancel()
	api, override := g.api(c.GitHub)
	base, err := url.Parse(api)
	if err != nil {
		return Registered{}, fmt.Errorf("GitHub's API %q: %w", api, err)
	}
	client := gh.NewClient(&http.Client{Transport: bounded{http.DefaultTransport}})
	client.BaseURL, client.UserAgent = base, "sia"
	got, resp, err := client.Apps.CompleteAppManifest(ctx, codeText)
	switch {
	case resp != nil && (resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusUnprocessableEntity):
		return Registered{}, errors.New("GitHub does not know the code: it works once, and for an hour. If the app stands " +
			"in GitHub's settings, delete it there, and begin again")
	case err != nil:
		return Registered{}, fmt.Errorf("GitHub's API at %s did not hand out the keys (%s); load this page again, which asks "+
			"again", api, text(err))
	case got.GetID() == 0 || got.GetPEM() == "" || got.GetWebhookSecret() == "":
		return Registered{}, errors.New("GitHub's answer lacks keys; delete the app in GitHub's settings, and begin again")
	}
	return Registered{GitHub: c.GitHub, API: override, ID: got.GetID(), Slug: got.GetSlug(), Name: got.GetName(),
		Owner: got.GetOwner().GetLogin(), Page: got.GetHTMLURL(), ClientID: got.GetClientID(),
		ClientSecret: got.GetClientSecret(), WebhookSecret: got.GetWebhookSecret(), PrivateKey: got.GetPEM(),
		PublicURL: c.PublicURL, At: g.now()}, nil
}

// api is the REST API of a GitHub, and it again where it is not the usual one.
func (g *Registration) api(web string) (api, override string) {
	if g.conf.API != "" && web == strings.TrimRight(g.conf.GitHub, "/") {
		return g.conf.API, g.conf.API
	}
	return github.APIAddress(web), ""
}

// known is what GitHub says of an app that was registered by hand; its id and key have to fit.
func (g *Registration) known(ctx context.Context, r Registered) (Registered, error) {
	ctx, cancel := context.WithTimeout(ctx, convertFor)
	defer cancel()
	api, override := g.api(r.GitHub)
	a, err := github.New(github.Config{AppID: r.ID, PrivateKey: []byte(r.PrivateKey), BaseURL: api, Secrets: &secret.Masker{}})
	if err != nil {
		return r, err
	}
	self, err := a.Self(ctx)
	if err != nil {
		return r, err
	}
	r.API, r.Slug, r.Name, r.Page = override, self.Slug, self.Name, self.URL
	return r, nil
}

// bounded bounds answers.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	}
	return resp, err
}

// text is an error without the code, which stands in the address that GitHub was asked at.
func text(err error) string {
	var refused *gh.ErrorResponse
	if errors.As(err, &refused) && refused.Response != nil {
		return refused.Response.Status
	}
	var lost *url.Error
	if errors.As(err, &lost) {
		return lost.Err.Error()
	}
	return "its answer can't be read"
}

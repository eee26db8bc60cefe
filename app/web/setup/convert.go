package setup

import (
	"context"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia/secret"
)

// convertFor bounds a conversation with GitHub during set-up.
const convertFor = 30 * time.Second

// convert gets an app's keys for a code, which works once and for an hour.
func (g *Registration) convert(ctx context.Context, c choice, code string) (Registered, error) {
	ctx, cancel := context.WithTimeout(ctx, convertFor)
	defer cancel()
	api, override := g.api(c.GitHub)
	got, err := github.Register(ctx, api, code)
	if err != nil {
		return Registered{}, err
	}
	return Registered{GitHub: c.GitHub, API: override, ID: got.ID, Slug: got.Slug, Name: got.Name, Owner: got.Owner,
		Page: got.Page, ClientID: got.ClientID, ClientSecret: got.ClientSecret, WebhookSecret: got.WebhookSecret,
		PrivateKey: got.PrivateKey, PublicURL: c.PublicURL, At: g.now()}, nil
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
	a, err := github.New(github.Config{AppID: r.ID, PrivateKey: []byte(r.PrivateKey), BaseURL: api,
		Secrets: &secret.Masker{}, Writes: github.Uncounted{}})
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

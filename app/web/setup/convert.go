package setup

import (
	"context"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia/secret"
)

// convertFor bounds the exchange with GitHub during set-up.
const convertFor = 30 * time.Second

// convert exchanges a code, which is valid once and for an hour, for an app's keys.
func (g *Registration) convert(ctx context.Context, c choice, code string) (Registered, error) {
	ctx, cancel := context.WithTimeout(ctx, convertFor)
	defer cancel()
	api, override := g.api(c.GitHub)
	got, err := github.Register(ctx, api, code)
	if err != nil {
		return Registered{}, err
	}
	return Registered{GitHub: c.GitHub, API: override, Registration: got, PublicURL: c.PublicURL, At: g.now()}, nil
}

// api is the REST API of a GitHub, and override the same if it is not the usual one.
func (g *Registration) api(web string) (api, override string) {
	if g.conf.API != "" && web == strings.TrimRight(g.conf.GitHub, "/") {
		return g.conf.API, g.conf.API
	}
	return github.APIAddress(web), ""
}

// verify returns the data of an app that was registered by hand; GitHub must accept its id and key.
func (g *Registration) verify(ctx context.Context, r Registered) (Registered, error) {
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

package app

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/work"
	"github.com/sia-bot/sia/gitops"
)

// Offline opens what a command needs that works on a server's database and its
// repositories while the server is down, or beside it: everything but the engine
// and the models. The caller closes it.
func Offline(ctx context.Context, c Config, o Options) (_ *work.Worker, closing func() error, err error) {
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		return nil, nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	secrets := c.secrets()
	o.Logger = slog.New(secrets.Handler(o.Logger.Handler()))
	s, err := store.Open(ctx, store.Config{URL: c.DB, Logger: o.Logger, Now: o.Now})
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if _, _, err = s.Migrate(ctx); err != nil {
		return nil, nil, err
	}
	gh, err := github.New(github.Config{
		AppID: c.GitHub.AppID, PrivateKey: c.GitHub.PrivateKey, BaseURL: c.GitHub.API, Logger: o.Logger, Secrets: secrets, Now: o.Now, WriteSpacing: c.WriteSpacing,
	})
	if err != nil {
		return nil, nil, err
	}
	git, err := gitops.Open(filepath.Join(c.Dir, "git"), gitops.Options{Logger: o.Logger})
	if err != nil {
		return nil, nil, err
	}
	return &work.Worker{Store: s, GitHub: gh, Git: git, Links: render.Links{Host: c.GitHub.URL}, Secrets: secrets, Logger: o.Logger, Now: o.Now}, s.Close, nil
}

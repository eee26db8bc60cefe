package app

import (
	"log/slog"
	"path/filepath"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/improve"
	"github.com/sia-bot/sia/gitops"
)

// OpenProposals opens the creation of pull requests for improvements, for a command that runs whether or not the server
// does. It needs no database.
func OpenProposals(c Config, o Options) (*improve.Proposals, error) {
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	secrets := c.secrets()
	log := slog.New(secrets.Handler(o.Logger.Handler()))
	gh, err := github.New(github.Config{AppID: c.GitHub.AppID, PrivateKey: c.GitHub.PrivateKey, BaseURL: c.GitHub.API,
		Logger: log, Secrets: secrets, Now: o.Now, WriteSpacing: c.WriteSpacing, Writes: github.Uncounted{}})
	if err != nil {
		return nil, err
	}
	git, err := gitops.OpenCache(filepath.Join(c.Dir, "git"), gitops.CacheOptions{Logger: log, Remove: sandbox.RemoveAll})
	if err != nil {
		return nil, err
	}
	return improve.NewProposals(gh, git, secrets.Mask, o.Now), nil
}

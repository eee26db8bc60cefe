package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/sia-bot/sia/agent/gateway"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/learn"
	"github.com/sia-bot/sia/app/lease"
	"github.com/sia-bot/sia/app/memory"
	"github.com/sia-bot/sia/app/settings"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/trial"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

// deps are shared by the server and by separate commands: everything except the engine and the models.
type deps struct {
	store    *store.Store
	github   *github.App
	git      *gitops.Cache
	tests    *evidence.Looker // nil: no tests are run here
	settings *settings.Files
	lessons  *learn.Lessons
	memory   *memory.Branches
	evolver  *trial.Evolver
	local    Local
	room     *gateway.Room // capacity for requests that pass through this server to a model
	secrets  *secret.Masker
	log      *slog.Logger
	now      func() time.Time
}

// openStore opens only the database and migrates its schema. The caller closes the store.
func openStore(ctx context.Context, c Config, o Options) (_ *deps, err error) {
	g := &deps{secrets: c.secrets(), log: o.Logger, local: o.Local.withDefaults(), room: &gateway.Room{}}
	if g.log == nil {
		g.log = slog.Default()
	}
	g.log = slog.New(g.secrets.Handler(g.log.Handler()))
	if g.store, err = store.Open(ctx, store.Config{URL: c.DB, DirectURL: c.DBDirect, Logger: g.log,
		Now: o.Now}); err != nil {
		return nil, err
	}
	g.now = g.store.Now
	defer func() {
		if err != nil {
			err = errors.Join(err, g.store.Close())
		}
	}()
	if _, _, err = g.store.Migrate(ctx); err != nil {
		return nil, err
	}
	return g, nil
}

// newDeps opens the database, GitHub and the mirrors. The caller closes the store.
func newDeps(ctx context.Context, c Config, o Options) (_ *deps, err error) {
	g, err := openStore(ctx, c, o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.store.Close())
		}
	}()
	if g.github, err = github.New(github.Config{
		AppID: c.GitHub.AppID, PrivateKey: c.GitHub.PrivateKey, BaseURL: c.GitHub.API, Logger: g.log, Secrets: g.secrets,
		Now: g.now, WriteSpacing: c.WriteSpacing, Writes: g.store, Transport: o.Transport,
	}); err != nil {
		return nil, err
	}
	if g.git, err = gitops.OpenCache(filepath.Join(c.Dir, "git"), gitops.CacheOptions{Logger: g.log,
		MayPush: lease.Check, Kept: g.keptCommit, Keys: g.readableKeys, Remove: sandbox.RemoveAll,
		Ignored: g.local.Ignored}); err != nil {
		return nil, err
	}
	g.settings = settings.New(g.store, g.github, g.git, g.local.Settings, g.local.Policies, g.log)
	g.lessons = learn.NewLessons(g.store, g.secrets, g.log, g.now)
	g.memory = memory.New(g.store, g.github, g.git, g.settings, learn.Results, g.secrets, g.log, g.now)
	author, err := policyAuthor(c, g.log)
	if err != nil {
		return nil, err
	}
	g.evolver, err = trial.New(trial.Deps{Store: g.store, Tasks: g.store, Settings: g.settings, Author: author,
		Forge: trial.NewOnGitHub(g.github, g.git, g.store, g.settings, g.now), Log: learn.NewHistory(g.store),
		Replayed: o.Duels, Logger: g.log, Now: g.now})
	return g, err
}

// keptCommit returns a commit of a mirror's repository that is stored in the database.
func (g *deps) keptCommit(ctx context.Context, key, sha string) ([]byte, error) {
	repo, err := github.RepoOfKey(key)
	if err != nil {
		return nil, err
	}
	return g.store.KeptCommit(ctx, repo, sha)
}

// readableKeys returns the keys of both mirrors of all repositories with the app installed.
func (g *deps) readableKeys(ctx context.Context) (keys []string, err error) {
	repos, err := g.store.Repositories(ctx, 0)
	for _, r := range repos {
		key := github.KeyOf(r.Installation, r.ID)
		keys = append(keys, key, historyKey(key))
	}
	return keys, err
}

// policyAuthor returns the author of policy changes, which uses the model for diagnoses; nil: there is none.
func policyAuthor(c Config, log *slog.Logger) (trial.Author, error) {
	m, ok := c.Models.Roles()["sia"]
	if !ok || m.URL == "" {
		return nil, nil //nolint:nilnil // optional
	}
	chain, err := m.Chain("sia", log)
	if err != nil {
		return nil, err
	}
	return trial.NewModelAuthor(chain, chain.Model()), nil
}

// OpenEvolver opens an evolver for a command that uses a server's database and repositories while the server may be
// running. Without an app's key it supports operations on the database only. The caller calls closing.
func OpenEvolver(ctx context.Context, c Config, o Options) (
	_ *trial.Evolver, s *store.Store, closing func() error, err error,
) {
	c = c.WithDefaults()
	if missing := c.GitHub.missing(); missing != nil {
		return openOfflineEvolver(ctx, c, o, missing)
	}
	if err := c.validate(false); err != nil {
		return nil, nil, nil, err
	}
	g, err := newDeps(ctx, c, o)
	if err != nil {
		return nil, nil, nil, err
	}
	return g.evolver, g.store, g.store.Close, nil
}

// openOfflineEvolver opens an evolver with only the database: operations on GitHub fail with the reason why.
func openOfflineEvolver(ctx context.Context, c Config, o Options, why error) (
	_ *trial.Evolver, s *store.Store, closing func() error, err error,
) {
	if err := c.validateRest(false); err != nil {
		return nil, nil, nil, err
	}
	log := cmp.Or(o.Logger, slog.Default())
	if s, err = store.Open(ctx, store.Config{URL: c.DB, Logger: log, Now: o.Now}); err != nil {
		return nil, nil, nil, err
	}
	_, _, err = s.Migrate(ctx)
	var evolver *trial.Evolver
	if err == nil {
		evolver, err = trial.New(trial.Deps{Store: s, Tasks: s, Settings: keptSettings{s}, Forge: trial.NoForge{Why: why},
			Log: learn.NewHistory(s), Replayed: o.Duels, Logger: log, Now: s.Now})
	}
	if err != nil {
		return nil, nil, nil, errors.Join(err, s.Close())
	}
	return evolver, s, s.Close, nil
}

// keptSettings reads the settings of repositories from the database.
type keptSettings struct{ store *store.Store }

func (k keptSettings) Policies(ctx context.Context, installation int64, repo sia.Repo) (*policies.Set, error) {
	return settings.Kept(ctx, k.store, installation, repo)
}

func (k keptSettings) Settings(ctx context.Context, installation int64, repo sia.Repo) (sia.Settings, error) {
	set, _, err := settings.KeptSettings(ctx, k.store, installation, repo)
	return set, err
}

// OpenMemory opens the memory branches for a command that uses a server's database and repositories, whether or not the
// server is running. The caller calls closing.
func OpenMemory(ctx context.Context, c Config, o Options) (_ *memory.Branches, closing func() error, err error) {
	c = c.WithDefaults()
	if err := c.validate(false); err != nil {
		return nil, nil, err
	}
	g, err := newDeps(ctx, c, o)
	if err != nil {
		return nil, nil, err
	}
	return g.memory, g.store.Close, nil
}

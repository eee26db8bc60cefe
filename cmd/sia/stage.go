package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/sweep"
	"github.com/sia-bot/sia/app/web/signin"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/scripted"
)

// demoStage is everything that the demo and the benchmarks run: a GitHub, a model
// and the production app between them, each met over HTTP alone.
type demoStage struct {
	sim   *ghsim.Server
	model *scripted.Server // nil when a real model plays
	app   *app.App
	close []func() error
}

// stageConfig says what is on the stage.
type stageConfig struct {
	spec   ghsim.RepoSpec
	name   string // of the repository; demoUser owns it
	script []byte // of the scripted model; nil: model
	model  app.ModelConfig
	logger *slog.Logger
}

// stageSecret signs webhooks that never leave this machine.
const stageSecret = "only for this machine"

// newStage starts everything. The caller shuts it.
func newStage(ctx context.Context, set stageConfig) (_ *demoStage, err error) {
	s := &demoStage{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.shut())
		}
	}()
	dir, err := os.MkdirTemp("", "sia-stage-")
	if err != nil {
		return nil, err
	}
	s.defers(func() error { return os.RemoveAll(dir) })
	if s.sim, err = ghsim.New(ghsim.Config{Logger: set.logger, Dir: filepath.Join(dir, "github")}); err != nil {
		return nil, err
	}
	s.defers(s.sim.Close)
	if _, err = s.sim.Start("127.0.0.1:0"); err != nil {
		return nil, err
	}
	s.sim.CreateUser(demoUser)
	if _, err = s.sim.CreateRepo(demoUser, set.name, set.spec); err != nil {
		return nil, err
	}
	models, err := s.models(set)
	if err != nil {
		return nil, err
	}
	registered, err := s.sim.CreateApp(demoApp)
	if err != nil {
		return nil, err
	}
	config := app.Config{
		Listen: "127.0.0.1:0", Dir: filepath.Join(dir, "sia"), Models: models, Free: true, Schedule: sweep.DefaultSchedule(),
		WriteSpacing: 10 * time.Millisecond,
		GitHub: app.GitHubConfig{URL: s.sim.URL(), API: s.sim.APIURL(), AppID: registered.ID,
			PrivateKey: registered.PrivateKeyPEM, WebhookSecret: stageSecret,
			ClientID: registered.ClientID, ClientSecret: registered.ClientSecret},
	}
	front, err := app.Listen(ctx, config)
	if err != nil {
		return nil, err
	}
	config.PublicURL = "http://" + front.Addr().String()
	if err = s.sim.SetCallbackURL(registered.ID, config.PublicURL+signin.CallbackPath); err != nil {
		return nil, errors.Join(err, front.Close())
	}
	if s.app, err = app.New(ctx, config, app.Options{Logger: set.logger, Front: front}); err != nil {
		return nil, errors.Join(err, front.Close())
	}
	s.serve(ctx)
	if err = s.sim.SetWebhook(registered.ID, s.webhook(), stageSecret); err != nil {
		return nil, err
	}
	_, err = s.sim.Install(registered.ID, demoUser, set.name)
	return s, err
}

// pages is the address of SIA's own pages.
func (s *demoStage) pages() string { return "http://" + s.app.Addr().String() }

// webhook is the address to which deliveries are sent.
func (s *demoStage) webhook() string { return s.pages() + "/webhook" }

// serve runs the app until the stage is shut.
func (s *demoStage) serve(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.app.Run(ctx) }()
	s.defers(func() error { stop(); return errors.Join(<-ended, s.app.Close()) })
}

// models is the scripted model behind its own server, or the person's.
func (s *demoStage) models(set stageConfig) (app.ModelsConfig, error) {
	if set.script == nil {
		return app.ModelsConfig{Coder: set.model}, nil
	}
	script, err := scripted.Parse(set.script)
	if err != nil {
		return app.ModelsConfig{}, err
	}
	if s.model, err = scripted.Start(script, scripted.Options{}); err != nil {
		return app.ModelsConfig{}, err
	}
	s.defers(s.model.Close)
	// Prices of a mid-sized model, so that credits mean something.
	price := llm.Price{Input: 3, CachedInput: 0.3, Output: 15}
	named := func(model string) app.ModelConfig {
		return app.ModelConfig{URL: s.model.URL, Key: "none", Model: model, Price: price}
	}
	return app.ModelsConfig{Coder: named("coder"), SIA: named("sia"), Reviewer: named("reviewer")}, nil
}

func (s *demoStage) defers(f func() error) { s.close = append(s.close, f) }

// shut closes everything in reverse order.
func (s *demoStage) shut() error {
	var all []error
	for i := len(s.close) - 1; i >= 0; i-- {
		all = append(all, s.close[i]())
	}
	return errors.Join(all...)
}

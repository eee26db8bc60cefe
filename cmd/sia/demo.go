package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/llm/scripted"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/ghsim"
	"github.com/sia-bot/sia/app/work"
)

//go:embed demo
var demoFiles embed.FS

type demoCmd struct {
	Keep     bool          `help:"Stay up afterwards, so that you can look around and label more issues."`
	Repo     string        `help:"Instead of the story: serve this local Git repository, or clone this one, and work on --issue with your model." placeholder:"PATH|URL"`
	Issue    string        `help:"With --repo: Markdown file with the issue; its first line is the title." type:"existingfile" placeholder:"FILE"`
	ModelURL string        `help:"OpenAI-compatible endpoint to use instead of the scripted model." env:"SIA_MODEL_URL" placeholder:"URL"`
	ModelKey string        `help:"Its key." env:"SIA_MODEL_KEY" placeholder:"KEY"`
	Model    string        `help:"Its model." env:"SIA_MODEL" placeholder:"NAME"`
	Timeout  time.Duration `help:"Give up on a step after this long." default:"3m"`
	Verbose  bool          `short:"v" help:"Show SIA's own log on standard error."`
}

// The people and things of the demo.
const (
	demoUser  = "ada"
	demoRepo  = "bookings"
	demoApp   = "sia-demo"
	demoScope = demoUser + "/" + demoRepo
)

// stage is everything that the demo runs: a GitHub, a model and the production
// app between them.
type stage struct {
	sim     *ghsim.Server
	model   *scripted.Server // nil when a real model plays
	app     *app.App
	install int64
	close   []func() error
}

// Run plays the demo.
func (c *demoCmd) Run(e *env) (err error) {
	if c.Issue != "" && c.Repo == "" {
		return errors.New("--issue goes with --repo: the story brings its own issues")
	}
	if c.Repo != "" && c.ModelURL == "" {
		return errors.New("--repo needs a real model, for the scripted one knows only its own story: set --model-url and --model")
	}
	spec, name, err := c.repository(e.ctx)
	if err != nil {
		return err
	}
	s, err := c.open(e, spec, name)
	defer func() { err = errors.Join(err, s.shut()) }()
	if err != nil {
		return err
	}
	n := &narrator{env: e, stage: s, timeout: c.Timeout, repo: demoUser + "/" + name}
	n.opening(c.ModelURL, c.Model)
	if c.Repo == "" {
		err = n.story()
	} else {
		err = n.own(c.Issue)
	}
	n.summary(err)
	if c.Keep && e.ctx.Err() == nil {
		fmt.Fprintf(e.out, "\nStill up at %s — label an issue there. Ctrl-C ends it.\n", e.style.bold(s.sim.URL()))
		<-e.ctx.Done()
	}
	if err != nil {
		return errShown
	}
	return nil
}

// repository is what the simulator serves, and under which name.
func (c *demoCmd) repository(ctx context.Context) (ghsim.RepoSpec, string, error) {
	if c.Repo == "" {
		b, err := demoFiles.ReadFile("demo/bookings.txtar")
		if err != nil {
			return ghsim.RepoSpec{}, "", err
		}
		files := map[string]string{}
		for _, f := range txtar.Parse(b).Files {
			files[f.Name] = string(f.Data)
		}
		return ghsim.RepoSpec{Files: files, Message: "A service for restaurant bookings"}, demoRepo, nil
	}
	path, err := local(ctx, c.Repo)
	return ghsim.RepoSpec{From: path}, filepath.Base(path), err
}

// open sets the stage.
func (c *demoCmd) open(e *env, spec ghsim.RepoSpec, name string) (s *stage, err error) {
	s = &stage{}
	dir, err := os.MkdirTemp("", "sia-demo-")
	if err != nil {
		return s, err
	}
	s.defers(func() error { return os.RemoveAll(dir) })
	logger := quiet()
	if c.Verbose {
		logger = e.logger
	}
	if s.sim, err = ghsim.New(ghsim.Config{Logger: logger, Dir: filepath.Join(dir, "github")}); err != nil {
		return s, err
	}
	s.defers(s.sim.Close)
	if _, err = s.sim.Start("127.0.0.1:0"); err != nil {
		return s, err
	}
	s.sim.CreateUser(demoUser)
	if _, err = s.sim.CreateRepo(demoUser, name, spec); err != nil {
		return s, err
	}
	models, err := c.models(s)
	if err != nil {
		return s, err
	}
	registered, err := s.sim.CreateApp(demoApp)
	if err != nil {
		return s, err
	}
	const secret = "only for this demo"
	if s.app, err = app.New(e.ctx, app.Config{
		Listen: "127.0.0.1:0", Dir: filepath.Join(dir, "sia"), Models: models, Schedule: work.DefaultSchedule(), WriteSpacing: 10 * time.Millisecond,
		GitHub: app.GitHubConfig{URL: s.sim.URL(), API: s.sim.APIURL(), AppID: registered.ID, PrivateKey: registered.PrivateKeyPEM, WebhookSecret: secret},
	}, app.Options{Logger: logger}); err != nil {
		return s, err
	}
	ctx, stop := context.WithCancel(e.ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.app.Run(ctx) }()
	s.defers(func() error { stop(); return errors.Join(<-ended, s.app.Close()) })
	if err = s.sim.SetWebhook(registered.ID, "http://"+s.app.Addr().String()+"/webhook", secret); err != nil {
		return s, err
	}
	s.install, err = s.sim.Install(registered.ID, demoUser, name)
	return s, err
}

// models is the scripted model behind its own server, or the person's.
func (c *demoCmd) models(s *stage) (app.ModelsConfig, error) {
	if c.ModelURL != "" {
		return app.ModelsConfig{Coder: app.ModelConfig{URL: c.ModelURL, Key: c.ModelKey, Model: c.Model}}, nil
	}
	text, err := demoFiles.ReadFile("demo/model.txtar")
	if err != nil {
		return app.ModelsConfig{}, err
	}
	script, err := scripted.Parse(text)
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

func (s *stage) defers(f func() error) { s.close = append(s.close, f) }

// shut closes everything in reverse order.
func (s *stage) shut() error {
	var all []error
	for i := len(s.close) - 1; i >= 0; i-- {
		all = append(all, s.close[i]())
	}
	return errors.Join(all...)
}

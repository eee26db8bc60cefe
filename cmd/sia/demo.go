package main

import (
	"context"
	"embed"
	"errors"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sim/ghsim"
)

//go:embed demo
var demoFiles embed.FS

type demoCmd struct {
	Keep         bool          `help:"Stay up afterwards, so that you can look around and label more issues."`
	Repo         string        `help:"Instead of the story: serve this local Git repository, or clone this one, and work on --issue with your model." placeholder:"PATH|URL"`
	Issue        string        `help:"With --repo: Markdown file with the issue; its first line is the title." type:"existingfile" placeholder:"FILE"`
	ModelURL     string        `help:"OpenAI-compatible endpoint to use instead of the scripted model." env:"SIA_MODEL_URL" placeholder:"URL"`
	ModelKey     string        `help:"Its key." env:"SIA_MODEL_KEY" placeholder:"KEY"`
	Model        string        `help:"Its model." env:"SIA_MODEL" placeholder:"NAME"`
	ModelTimeout time.Duration `help:"How long one answer of it may take." env:"SIA_MODEL_TIMEOUT" default:"2m"`
	Timeout      time.Duration `help:"Give up on a step after this long." default:"3m"`
	Verbose      bool          `short:"v" help:"Show SIA's own log on standard error."`
}

// The people and things of the demo.
const (
	demoUser = "ada"
	demoRepo = "bookings"
	demoApp  = "sia-demo"
)

// Run plays the demo.
func (c *demoCmd) Run(e *cli.Env) (err error) {
	if c.Issue != "" && c.Repo == "" {
		return errors.New("--issue goes with --repo: the story brings its own issues")
	}
	if c.Repo != "" && c.ModelURL == "" {
		return errors.New("--repo needs a real model, for the scripted one knows only its own story: set --model-url and " +
			"--model")
	}
	spec, name, err := c.repository(e.Ctx)
	if err != nil {
		return err
	}
	s, err := c.open(e, spec, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.shut()) }()
	n := &demoNarrator{Env: e, demoStage: s, timeout: c.Timeout, repo: demoUser + "/" + name}
	n.opening(c.ModelURL, c.Model)
	if c.Repo == "" {
		err = n.story()
	} else {
		err = n.own(c.Issue)
	}
	n.summary(err)
	if c.Keep && e.Ctx.Err() == nil {
		n.keep()
		if err == nil {
			return nil
		}
	}
	if err != nil {
		return cli.ErrShown
	}
	return nil
}

// model is the person's own model.
func (c *demoCmd) model() app.ModelConfig {
	return app.ModelConfig{Name: "coder", URL: c.ModelURL, Key: c.ModelKey, Model: c.Model, Timeout: c.ModelTimeout}
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
	path, err := localRepository(ctx, c.Repo)
	return ghsim.RepoSpec{From: path}, filepath.Base(path), err
}

// open sets the stage.
func (c *demoCmd) open(e *cli.Env, spec ghsim.RepoSpec, name string) (*demoStage, error) {
	set := stageConfig{spec: spec, name: name, logger: silentLogger()}
	if c.Verbose {
		set.logger = e.Logger
	}
	if c.ModelURL != "" {
		set.models = app.ModelsConfig{Coder: c.model()}
		return newStage(e.Ctx, set)
	}
	var err error
	if set.script, err = demoFiles.ReadFile("demo/model.txtar"); err != nil {
		return nil, err
	}
	return newStage(e.Ctx, set)
}

package main

import (
	"cmp"
	"embed"
	"errors"
	"os/exec"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/stage"
)

//go:embed demo
var demoFiles embed.FS

type demoCmd struct {
	Keep         bool          `help:"Stay up afterwards, so that you can look around and label more issues."`
	Repo         string        `help:"Instead of the story: work on --issue in this clone, or in a clone of this address, with your model, as sia run does." placeholder:"PATH|URL"`
	Issue        string        `help:"With --repo: what to do, a Markdown file with the title in its first line, or the words themselves. Default: make the tests pass." placeholder:"FILE|TEXT"`
	Test         string        `help:"With --repo: command that says whether the work is right; default: the one that the repository names." placeholder:"COMMAND"`
	ModelURL     string        `help:"OpenAI-compatible endpoint to use instead of the scripted model." env:"SIA_MODEL_URL" placeholder:"URL" type:"web"`
	ModelKey     string        `help:"Its key." env:"SIA_MODEL_KEY" placeholder:"KEY"`
	Model        string        `help:"Its model." env:"SIA_MODEL" placeholder:"NAME"`
	ModelTimeout time.Duration `help:"How long one answer of it may take." env:"SIA_MODEL_TIMEOUT" default:"2m" min:"1ms"`
	Timeout      time.Duration `help:"Give up on a step after this long." default:"10m" min:"1ms"`
	Verbose      bool          `short:"v" help:"Show SIA's own log on standard error."`
	cli.Format   `embed:""`
}

// Names of the demo's user and repository.
const (
	demoUser = "ada"
	demoRepo = "bookings"
)

// Run plays the demo.
func (c *demoCmd) Run(e *cli.Env) (err error) {
	if c.Issue+c.Test != "" && c.Repo == "" {
		return cli.Usage("--issue and --test go with --repo: the story brings its own issues")
	}
	if c.Keep && c.Repo != "" {
		return cli.Usage("--keep goes with the story: with --repo the result is a branch, which stays")
	}
	if c.Repo != "" && c.ModelURL == "" {
		return cli.Usage("--repo needs a real model, for the scripted one knows only its own story: give --model-url and " +
			"--model")
	}
	if c.Repo != "" {
		return c.own(e)
	}
	for _, program := range []string{"git", "go"} { // the story's repository is a Go module
		if _, err := exec.LookPath(program); err != nil {
			return cli.Usage("the demo needs %s, which is not in PATH: install it, or try `sia run` on a clone of yours",
				program)
		}
	}
	spec, err := bookings()
	if err != nil {
		return err
	}
	s, err := c.open(e, spec, demoRepo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	told := *e
	if c.Output == "json" {
		told.Out, told.Style = e.Err, cli.StyleFor(e.Err)
	}
	n := &demoNarrator{Env: &told, Stage: s, timeout: c.Timeout, repo: demoUser + "/" + demoRepo}
	n.opening(c.ModelURL, c.Model)
	failed := n.story()
	if e.Ctx.Err() != nil {
		return e.Ctx.Err()
	}
	result, err := n.result(failed)
	if err != nil {
		return err
	}
	n.summary(result)
	if c.Output == "json" {
		err = e.JSON(result)
	}
	if c.Keep {
		n.keep()
	}
	if err == nil && failed != nil {
		err = cli.ErrShown
	}
	return err
}

// model returns the user's own model.
func (c *demoCmd) model() app.ModelConfig {
	return app.ModelConfig{Name: "coder", URL: c.ModelURL, Key: c.ModelKey, Model: c.Model, Timeout: c.ModelTimeout}
}

// own works on the user's own repository.
func (c *demoCmd) own(e *cli.Env) error {
	path, err := localRepository(e.Ctx, c.Repo)
	if err != nil {
		return err
	}
	_, known := llm.KnownPrice(c.Model)
	issue := cmp.Or(c.Issue, "Make the tests pass\n\nThe repository's tests fail. Find out why and repair it.")
	run := runCmd{Repo: path, Issue: issue, Test: c.Test, TestWithin: 15 * time.Minute, Free: !known, Verbose: c.Verbose,
		diff: true, Format: c.Format, modelFlags: modelFlags{ModelURL: c.ModelURL, ModelKey: c.ModelKey, Model: c.Model,
			ModelTimeout: c.ModelTimeout}}
	return run.Run(e)
}

// bookings returns the repository of the story.
func bookings() (ghsim.RepoSpec, error) {
	b, err := demoFiles.ReadFile("demo/bookings.txtar")
	files := map[string]string{}
	for _, f := range txtar.Parse(b).Files {
		files[f.Name] = string(f.Data)
	}
	return ghsim.RepoSpec{Files: files, Message: "A service for restaurant bookings"}, err
}

// open starts the stage.
func (c *demoCmd) open(e *cli.Env, spec ghsim.RepoSpec, name string) (*stage.Stage, error) {
	set := stage.Config{Owner: demoUser, Name: name, Spec: spec, Logger: silentLogger(), Forward: cli.ForwardCommand(),
		Stdlib: cli.StdlibDir()}
	if c.Verbose {
		set.Logger = e.Logger
	}
	if c.ModelURL != "" {
		set.Models = app.ModelsConfig{Coder: c.model()}
		_, set.Priced = llm.KnownPrice(c.Model)
		return stage.Start(e.Ctx, set)
	}
	var err error
	if set.Script, err = demoFiles.ReadFile("demo/model.txtar"); err != nil {
		return nil, err
	}
	return stage.Start(e.Ctx, set)
}

package main

import (
	"cmp"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/cmd/internal/demo"
)

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

// Run plays the demo.
func (c *demoCmd) Run(e *cli.Env) error {
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
	o := demo.Options{Timeout: c.Timeout, Keep: c.Keep, JSON: c.Output == "json", Logger: silentLogger(),
		Model: app.ModelConfig{Name: "coder", URL: c.ModelURL, Key: c.ModelKey, Model: c.Model, Timeout: c.ModelTimeout}}
	if c.Verbose {
		o.Logger = e.Logger
	}
	return demo.Run(e, o)
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

package main

import (
	"cmp"
	"time"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/cmd/internal/demo"
)

type demoCmd struct {
	Keep    bool          `help:"Stay up afterwards, so that you can look around and label more issues."`
	Repo    string        `help:"Instead of the story: work on --issue in this clone, or in a clone of this address, with your model, as sia run does." placeholder:"PATH|URL"`
	Issue   string        `help:"With --repo: what to do, a Markdown file with the title in its first line, or the words themselves. Default: make the tests pass." placeholder:"FILE|TEXT"`
	Test    string        `help:"With --repo: command that says whether the work is right; default: the one that the repository names." placeholder:"COMMAND"`
	Free    bool          `help:"With --repo: the models cost nothing, so no budget ends an attempt." env:"SIA_FREE"`
	Timeout time.Duration `help:"Give up on a step after this long." default:"10m" min:"1ms"`
	Verbose bool          `short:"v" help:"Show SIA's own log on standard error."`

	modelFlags `embed:"" group:"model"`
	cli.Format `embed:""`
}

// Run plays the demo.
func (c *demoCmd) Run(e *cli.Env) error {
	if c.Issue+c.Test != "" && c.Repo == "" {
		return cli.Usage("--issue and --test go with --repo: the story brings its own issues")
	}
	if c.Keep && c.Repo != "" {
		return cli.Usage("--keep goes with the story: with --repo the result is a branch, which stays")
	}
	if c.Repo != "" && c.ModelURL == "" && c.ConfigFile == "" {
		return cli.Usage("--repo needs a real model, for the scripted one knows only its own story: give --model-url and " +
			"--model")
	}
	if c.Repo != "" {
		return c.own(e)
	}
	models, err := c.models()
	if err != nil {
		return err
	}
	models.Coder.Timeout = cmp.Or(models.Coder.Timeout, 2*time.Minute) // less than --timeout
	o := demo.Options{Timeout: c.Timeout, Keep: c.Keep, JSON: c.Output == "json", Logger: silentLogger(), Models: models}
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
	issue := cmp.Or(c.Issue, "Make the tests pass\n\nThe repository's tests fail. Find out why and repair it.")
	run := runCmd{Repo: path, Issue: issue, Test: c.Test, TestWithin: 15 * time.Minute, Free: c.Free, Verbose: c.Verbose,
		diff: true, Format: c.Format, modelFlags: c.modelFlags}
	return run.Run(e)
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/probe"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/text"
)

type doctorGitHubCmd struct {
	serverFlags `embed:""`
	Repo        string `help:"Repository to try things in, owner/name: the app is installed on it, and nobody needs it. What is made there is taken back." placeholder:"OWNER/SCRATCH" required:""`
	Record      string `help:"File for what was asked and answered, without secrets, as JSON." type:"path" placeholder:"FILE"`
	Only        string `help:"Facts to try, by a regular expression of their names, such as ^rules/." placeholder:"REGEXP"`
	cli.Format  `embed:""`
}

// Validate returns an error unless the flags hold a repository and a regular expression.
func (c *doctorGitHubCmd) Validate() error {
	if c.Repo != "" && !ownerName.MatchString(c.Repo) {
		return fmt.Errorf("--repo %s: a repository is given as owner/name", c.Repo)
	}
	if _, err := regexp.Compile(c.Only); err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	return c.serverFlags.Validate()
}

// Run tests each fact and reports where GitHub differs.
func (c *doctorGitHubCmd) Run(e *cli.Env) error {
	config, err := c.withoutModels().config()
	if err != nil {
		return err
	}
	if len(config.GitHub.PrivateKey) == 0 || config.GitHub.AppID == 0 {
		return errors.New("the app's id and key are missing: give --app-id and --app-key-file, or run sia setup first")
	}
	only := regexp.MustCompile(c.Only) // Validate has checked it
	masker := &secret.Masker{}
	raw, err := c.signIn(e, config, masker)
	if err != nil {
		return err
	}
	o := probe.Options{Only: only, Secrets: masker, Spacing: config.WriteSpacing, Record: c.Record != ""}
	if c.Output == "text" {
		e.Linef("Trying in %s at %s what SIA relies on. It takes some minutes.", raw.Repo, raw.API)
		o.Seen = func(r probe.Result) { printFact(e, r) }
	}
	report := probe.Run(e.Ctx, raw, o)
	if len(report.Results) == 0 {
		return fmt.Errorf("no fact is called like %s; docs/github.md lists their names", c.Only)
	}
	if err := c.record(report); err != nil {
		return err
	}
	return c.sum(e, report)
}

// signIn signs in to the scratch repository.
func (c *doctorGitHubCmd) signIn(e *cli.Env, config app.Config, masker *secret.Masker) (github.Raw, error) {
	config = config.WithDefaults()
	a, err := github.New(github.Config{AppID: config.GitHub.AppID, PrivateKey: config.GitHub.PrivateKey,
		BaseURL: config.GitHub.API, Logger: e.Logger, Secrets: masker, Writes: github.Uncounted{}})
	if err != nil {
		return github.Raw{}, err
	}
	owner, name, _ := strings.Cut(c.Repo, "/")
	return a.Raw(e.Ctx, sia.Repo{Owner: owner, Name: name})
}

func printFact(e *cli.Env, r probe.Result) {
	mark := e.Style.Green("✓")
	switch {
	case r.Verdict == probe.Differs || r.Broken:
		mark = e.Style.Red("✗")
	case r.Verdict == probe.NotTried:
		mark = e.Style.Amber("–")
	}
	e.Linef("%s %s", mark, r.ID)
	if r.Verdict == probe.Differs {
		e.Linef("  expected: %s\n  answered: %s", text.OneLine(r.Expected),
			text.OneLine(r.Answered))
	}
	if r.Why != "" {
		e.Linef("  not tried: %s", text.OneLine(r.Why))
	}
}

// record writes the whole report.
func (c *doctorGitHubCmd) record(r probe.Report) error {
	if c.Record == "" {
		return nil
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(c.Record, append(b, '\n'), 0o600)
}

// sum prints a summary. Its JSON is the report without the recorded requests and answers.
func (c *doctorGitHubCmd) sum(e *cli.Env, r probe.Report) error {
	r.Results = slices.Clone(r.Results)
	for i := range r.Results {
		r.Results[i].Exchanges = nil
	}
	return c.Report(e, r, r.OK(), func() error {
		e.Linef("%d hold, %d differ, %d were not tried.", r.Count(probe.Holds), r.Count(probe.Differs),
			r.Count(probe.NotTried))
		for _, left := range r.Left {
			e.Linef("Left behind in %s: %s", r.Repository, text.OneLine(left))
		}
		return nil
	})
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/memory"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

type memoryCmd struct {
	Show    memoryShowCmd `cmd:"" help:"Print what SIA remembers of a task, or what it learned in a repository." example:"sia memory show acme/shop#12"`
	Reindex reindexCmd    `cmd:"" help:"The same as sia reindex." example:"sia memory reindex --repo acme/shop"`
}

type memoryShowCmd struct {
	serverFlags `embed:""`
	Output      string `help:"text (the Markdown that people read) or json." enum:"text,json" default:"text"`
	What        string `arg:"" help:"owner/name#issue for a task, owner/name for the lessons." placeholder:"OWNER/NAME[#ISSUE]"`
}

// rememberedName is owner/name#issue; the issue may be left out.
var rememberedName = regexp.MustCompile(`^([\w.-]+/[\w.-]+)(?:#([1-9][0-9]{0,8}))?$`)

// Validate refuses, as wrong usage, what names neither a task nor a repository.
func (c *memoryShowCmd) Validate() error {
	if !rememberedName.MatchString(c.What) {
		return fmt.Errorf("%q is neither owner/name#issue nor owner/name", c.What)
	}
	return nil
}

// Run prints the file that stands on the memory branch.
func (c *memoryShowCmd) Run(e *cli.Env) (err error) {
	named := rememberedName.FindStringSubmatch(c.What)
	issue, _ := strconv.Atoi(named[2]) // 0: there is none
	m, closing, err := c.offline(e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	markdown, json, err := m.Show(e.Ctx, named[1], issue)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		_, err = e.Out.Write(secret.MaskJSON(json))
		return err
	}
	return e.Sayf("%s", markdown)
}

// offline opens the server's database and repositories.
func (s serverFlags) offline(e *cli.Env) (*memory.Branches, func() error, error) {
	c, err := s.withoutModels().config()
	if err != nil {
		return nil, nil, err
	}
	return app.OpenMemory(e.Ctx, c, app.Options{Logger: e.Logger})
}

type reindexCmd struct {
	serverFlags `embed:""`
	Repo        string `help:"Only this repository, as owner/name." placeholder:"OWNER/NAME" type:"repository"`
	cli.Format  `embed:""`
}

// Help is what `sia reindex --help` says beneath the first line.
func (*reindexCmd) Help() string {
	return "Reads the memory branch of every repository that the app is installed in and rebuilds what the database " +
		"lacks: tasks, lessons with their counts, decisions and outcomes, so that SIA chooses as it did. What the " +
		"database knows stays as it is, so this can be run again, and beside a running server. Tasks that had not " +
		"ended start again when their label is still on, and wait for /sia start otherwise."
}

// Run rebuilds the database from the memory branches.
func (c *reindexCmd) Run(e *cli.Env) (err error) {
	m, closing, err := c.offline(e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	all, err := m.Reindex(e.Ctx, c.Repo, func(r memory.ReindexResult) {
		fmt.Fprintf(e.Err, "%s: read\n", r.Repo)
	})
	if err != nil {
		return err
	}
	err = cli.List(e, c.Format, all, "the app is not installed anywhere, so there is nothing to rebuild from",
		[]string{"REPOSITORY", "MEMORY", "TASKS", "STARTED AGAIN", "LESSONS", "DECISIONS", "OUTCOMES"},
		func(t cli.Table, r memory.ReindexResult) {
			t.Rowf("%s\t%s\t%d\t%d\t%d\t%d\t%d", r.Repo, cmp.Or(sia.SHA(r.Head).Short(), "none"), r.Tasks, r.Again, r.Lessons,
				r.Decisions, r.Outcomes)
		})
	if err != nil || len(all) == 0 || c.Output == "json" {
		return err
	}
	rebuilt, problems := 0, 0
	for _, r := range all {
		rebuilt += r.Tasks + r.Lessons
		problems += len(r.Problems)
		for _, p := range r.Problems {
			e.Linef("%s %s: %s", e.Style.Amber("!"), r.Repo, p)
		}
	}
	if problems > 0 {
		e.Linef("What can't be read was left as it is; repair it on the branch and run sia reindex again.")
	}
	if rebuilt == 0 {
		e.Linef("Nothing was missing.")
	}
	return nil
}

package main

import (
	"cmp"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/text"
)

type auditCmd struct {
	openedDatabase `embed:""`
	Repo           string   `help:"Only what was done in this repository, as owner/name or GitHub's id." placeholder:"OWNER/NAME" type:"repository"`
	Person         string   `help:"Only what this login did; operator is whoever runs the server, sia is SIA itself, and with an @ they are people." placeholder:"LOGIN"`
	Since          pastTime `help:"Only what was done since: a time such as 36h or 7d ago, or a date such as 2026-05-04. Default: 30d." default:"30d" placeholder:"TIME"`
	Limit          int      `help:"At most so many, the latest." default:"100" min:"1" max:"1000000"`
}

// Help returns the text of `sia audit --help` below the first line.
func (*auditCmd) Help() string {
	return "Lists what people asked for, answered, paused and approved, what SIA decided, and what it wrote to GitHub, " +
		"with what followed. --output json prints an object a line. Sign-ins to the pages are not stored."
}

// auditLine is a line of --output json. Fields are only added.
type auditLine struct {
	store.Act
	RepoName string `json:"repo_name,omitempty"` // owner/name; empty: SIA is not installed there now
}

// Run lists who did what.
func (c *auditCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		repo, err := repositoryID(e, s, c.Repo)
		if err != nil {
			return err
		}
		filter := store.ActFilter{Login: c.Person, Repo: repo, Since: c.Since.resolve(time.Now()), Limit: c.Limit}
		repos, err := s.Repositories(e.Ctx, 0)
		if err != nil {
			return err
		}
		names := map[int64]string{}
		for _, r := range repos {
			names[r.ID] = r.String()
		}
		if c.Output == "json" {
			return s.EachAct(e.Ctx, filter, func(a store.Act) error { return e.JSONLine(auditLine{a, names[a.Repo]}) })
		}
		acts, err := s.Acts(e.Ctx, filter)
		if err != nil {
			return err
		}
		err = cli.List(e, c.Format, acts, "nothing was done; name an earlier time with --since, or leave the filters out",
			[]string{"TIME", "WHO", "WHAT", "WHERE", "WHAT FOLLOWED"}, func(t cli.Table, a store.Act) {
				who := text.OneLine(a.Who)
				if a.Person {
					who = "@" + who
				}
				t.Rowf("%s\t%s\t%s\t%s\t%s", a.At.Local().Format(time.DateTime), who, a.What,
					cmp.Or(string(a.Task), names[a.Repo]), text.Clip(text.OneLine(cli.Plain(a.Detail)), 80))
			})
		if err == nil && len(acts) == c.Limit {
			e.Linef("These are the latest %d; --limit shows more.", c.Limit)
		}
		return err
	})
}

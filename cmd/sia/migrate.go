package main

import (
	"errors"
	"fmt"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
)

type migrateCmd struct {
	openedDatabase `embed:""`
	From           string `help:"Move an installation: the database URL that it has now, such as sqlite:/var/lib/sia/sia.db. Stop its server first." placeholder:"URL"`
	To             string `help:"The database URL to move to, such as postgres://user:password@host/database; it must be empty." placeholder:"URL"`
	DryRun         bool   `name:"dry-run" help:"Do all of the move, compare every row, and keep none of them."`
}

// Validate returns an error for an incomplete move.
func (c *migrateCmd) Validate() error {
	switch {
	case (c.From == "") != (c.To == ""):
		return errors.New("--from and --to go together: the first is moved to the second")
	case c.DryRun && c.From == "":
		return errors.New("--dry-run needs --from and --to")
	}
	for _, url := range []string{c.From, c.To} {
		if url == "" {
			continue
		}
		if _, err := store.File(url); err != nil {
			return fmt.Errorf("--from and --to: %w", err)
		}
	}
	return nil
}

// migratedSchema holds the versions of the schema before and after.
type migratedSchema struct {
	From int64 `json:"from"` // 0: there was no database
	To   int64 `json:"to"`
}

// Run brings the schema up to date, or moves the installation to another database.
func (c *migrateCmd) Run(e *cli.Env) (err error) {
	if c.From != "" {
		return c.move(e)
	}
	s, err := store.Open(e.Ctx, store.Config{URL: c.database(), Logger: e.Logger})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	from, to, err := s.Migrate(e.Ctx)
	if err != nil {
		return err
	}
	if from == 0 {
		return c.Sayf(e, migratedSchema{from, to}, "there was no SIA database at %s: a new one was made, its schema went "+
			"from version 0 to %d\n", c.databaseName(), to)
	}
	if from == to {
		return c.Sayf(e, migratedSchema{from, to}, "the schema is up to date (version %d)\n", to)
	}
	return c.Sayf(e, migratedSchema{from, to}, "the schema went from version %d to %d\n", from, to)
}

func (c *migrateCmd) move(e *cli.Env) error {
	m, err := store.Move(e.Ctx, store.Config{URL: c.From, Logger: e.Logger}, store.Config{URL: c.To, Logger: e.Logger},
		c.DryRun)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return e.JSON(m)
	}
	w := cli.NewTable(e.Out)
	rows, cleaned := 0, 0
	for _, t := range m.Tables {
		rows += t.Rows
		cleaned += t.Cleaned
		if t.Rows > 0 {
			w.Rowf("%s\t%d rows\tsha256 %.16s", t.Name, t.Rows, t.SHA256)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if cleaned > 0 {
		e.Linef("%d rows had bytes in their texts that PostgreSQL doesn't take; they are replaced by U+FFFD.", cleaned)
	}
	if m.Tried {
		return e.Sayf("A trial: %d rows were copied and each was found equal, with %d jobs to do. "+
			"None was kept; SIA's empty tables are there now.\n", rows, m.Jobs)
	}
	return e.Sayf("%d rows were copied and each was found equal, with %d jobs to do. Start the server with "+
		"--db and the new address; the old database is as it was.\n", rows, m.Jobs)
}

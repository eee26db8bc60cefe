package main

import (
	"errors"
	"fmt"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
)

type migrateCmd struct {
	serverFlags `embed:""`
	cli.Format  `embed:""`
}

// migratedSchema are the versions of the schema before and after.
type migratedSchema struct {
	From int64 `json:"from"` // 0: there was no database
	To   int64 `json:"to"`
}

// Run brings the schema up to date.
func (c *migrateCmd) Run(e *cli.Env) (err error) {
	s, err := store.Open(e.Ctx, store.Config{URL: c.database(), Logger: e.Logger})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	from, to, err := s.Migrate(e.Ctx)
	if err != nil {
		return err
	}
	switch {
	case c.Output == "json":
		err = e.JSON(migratedSchema{from, to})
	case from == to:
		_, err = fmt.Fprintf(e.Out, "the schema is up to date (version %d)\n", to)
	default:
		_, err = fmt.Fprintf(e.Out, "the schema went from version %d to %d\n", from, to)
	}
	return err
}

package main

import (
	"errors"
	"fmt"

	"github.com/sia-bot/sia/app/store"
)

type migrateCmd struct {
	serverFlags `embed:""`
	Output      string `help:"text or json." enum:"text,json" default:"text"`
}

// migratedSchema are the versions of the schema before and after.
type migratedSchema struct {
	From int64 `json:"from"` // 0: there was no database
	To   int64 `json:"to"`
}

// Run brings the schema up to date.
func (c *migrateCmd) Run(e *commandEnv) (err error) {
	s, err := store.Open(e.ctx, store.Config{URL: c.database(), Logger: e.logger})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	from, to, err := s.Migrate(e.ctx)
	if err != nil {
		return err
	}
	switch {
	case c.Output == "json":
		err = printJSON(e, migratedSchema{from, to})
	case from == to:
		_, err = fmt.Fprintf(e.out, "the schema is up to date (version %d)\n", to)
	default:
		_, err = fmt.Fprintf(e.out, "the schema went from version %d to %d\n", from, to)
	}
	return err
}

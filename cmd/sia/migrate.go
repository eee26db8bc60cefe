package main

import (
	"errors"
	"fmt"

	"github.com/sia-bot/sia/app/store"
)

type migrateCmd struct {
	serverFlags `embed:""`
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
	if from == to {
		_, err = fmt.Fprintf(e.out, "the schema is up to date (version %d)\n", to)
	} else {
		_, err = fmt.Fprintf(e.out, "the schema went from version %d to %d\n", from, to)
	}
	return err
}

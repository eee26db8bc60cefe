package main

import (
	"errors"
	"fmt"

	"github.com/sia-bot/sia/app"
)

type serveCmd struct {
	serverFlags `embed:""`
}

// Run serves until it is told to end. Keys that GitHub does not accept end it at once; a model
// that can't be reached is told, and may come back.
func (c *serveCmd) Run(e *commandEnv) (err error) {
	config, err := c.config()
	if err != nil {
		return err
	}
	a, err := app.New(e.ctx, config, app.Options{Logger: e.logger, Forward: forwardCommand()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	for _, p := range a.Problems(e.ctx) {
		if p.Fatal {
			return fmt.Errorf("%s", p)
		}
		e.logger.WarnContext(e.ctx, "not working yet; tasks wait for it", "what", p.What, "error", p.Err)
	}
	return a.Run(e.ctx)
}

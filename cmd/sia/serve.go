package main

import (
	"errors"

	"github.com/sia-bot/sia/app"
)

type serveCmd struct {
	serverFlags `embed:""`
}

// Run serves until it is told to end.
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
	return a.Run(e.ctx)
}

package main

import (
	"errors"
	"os"

	"github.com/sia-bot/sia/app/runner/pods"
	"github.com/sia-bot/sia/app/runner/worker"
	"github.com/sia-bot/sia/cmd/internal/cli"
)

// runnerAttemptCmd makes one attempt in a Pod that runnerPodsCmd created.
type runnerAttemptCmd struct {
	runnerServer  `embed:""`
	runnerMachine `embed:""`
}

// Run makes the attempt of the pass in the environment. It removes the pass, so that child processes don't inherit it.
func (c *runnerAttemptCmd) Run(e *cli.Env) error {
	pass := os.Getenv(pods.PassEnv)
	if pass == "" {
		return errors.New("the pass of an attempt is missing in " + pods.PassEnv + ": sia runner pods puts it there; to " +
			"make attempts on this machine, use sia runner")
	}
	if err := os.Unsetenv(pods.PassEnv); err != nil {
		return err
	}
	config, err := c.config(e, c.runnerServer)
	if err != nil {
		return err
	}
	return worker.Attempt(e.Ctx, config, pass)
}

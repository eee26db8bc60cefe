package agent

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
)

// Commands runs a repository's own commands in a work tree as attempts do: in the sandbox, with setup first, and
// with what setup fetched and what the command built on the base for the same lock files. Safe for concurrent use on
// different trees.
type Commands struct{ runners *runnerFactory } // nil: nothing can be run

// NewCommands keeps in the folder cache what setup fetches; "" keeps nothing. Setup may fetch from hosts; without any
// it has no network. Without a sandbox nothing is run.
func NewCommands(
	box *sandbox.Sandbox, cache string, hosts []string, now func() time.Time, log *slog.Logger,
) (*Commands, error) {
	runners, err := newRunnerFactory(box, cache, hosts, now, log)
	if err != nil {
		return nil, fmt.Errorf("make commands: %w", err)
	}
	return &Commands{runners}, nil
}

// Runs reports whether anything can be run.
func (c *Commands) Runs() bool { return c.runners != nil }

// Run prepares the work tree in.Dir with in.Setup and runs one command in it, at most for a time and without a
// network. out gets what the command prints as it comes; nil: nothing does. failed is what the first setup command
// printed that failed, and which services can't be had; empty: nothing failed.
//
// What the command built is kept where in.OnBase: later runs and attempts begin with a copy of it, so that a compiler
// does not begin anew for each. What a branch's command builds is never kept, so that it reaches nobody.
func (c *Commands) Run(
	ctx context.Context, in Input, command string, within time.Duration, out io.Writer,
) (res sandbox.Result, failed string, err error) {
	runner, failed, _, err := c.runners.openRunner(ctx, in)
	if err != nil {
		return res, "", err
	}
	defer runner.close()
	in.begins(command)
	if res, err = runner.run(ctx, command, within, out, false); err == nil && in.OnBase && failed == "" {
		if err = runner.keepBuilt(ctx); err != nil {
			err = runner.notKept(ctx, err)
		}
	}
	return res, strings.TrimSpace(runner.lacks + "\n" + failed), err
}

package agent

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
)

// Commands runs the commands of repositories in work trees: in the sandbox, after setup, and with the downloads and
// build results that are cached for the same lock files. Only setup on a base branch's tree can write those, so that an
// attempt can't poison another. It is safe for concurrent use on different trees.
type Commands struct {
	sandbox  *sandbox.Sandbox // nil: no commands can be run
	cacheDir string           // "": nothing is kept
	hosts    []string
	now      func() time.Time
	log      *slog.Logger

	setupTimeout time.Duration // for all setup commands of an attempt
}

// NewCommands returns a Commands. Downloads of setup are kept in the folder cache, unless it is "". Setup may connect
// to hosts, in the format of sandbox.AllowedHosts; without any it has no network. If box is nil, no command can be run.
func NewCommands(
	box *sandbox.Sandbox, cache string, hosts []string, now func() time.Time, log *slog.Logger,
) (*Commands, error) {
	c := &Commands{sandbox: box, hosts: hosts, now: now, log: log, setupTimeout: setupTimeout}
	if cache != "" {
		dir, err := filepath.Abs(cache)
		if err != nil {
			return nil, fmt.Errorf("find the cache of the sandbox: %w", err)
		}
		c.cacheDir = dir
	}
	return c, nil
}

// Runs reports whether commands can be run; nil can run none.
func (c *Commands) Runs() bool { return c != nil && c.sandbox != nil }

// Run prepares the work tree in.Dir with in.Setup and runs one command in it, without a network and for at most within.
// It copies the command's output to out as it is printed, unless out is nil. failed is the output of the first setup
// command that failed, and the services that are unavailable; empty: nothing failed.
//
// If in.OnBase, the command's build results are kept: later runs and attempts start with a copy of them instead of
// compiling from scratch. Build results of a branch are never kept, so that they can't reach other attempts.
func (c *Commands) Run(
	ctx context.Context, in Input, command string, within time.Duration, out io.Writer,
) (res sandbox.Result, failed string, err error) {
	runner, failed, _, err := c.openRunner(ctx, in)
	if err != nil {
		return res, "", err
	}
	defer runner.close()
	in.notifyBegin(command)
	if res, err = runner.run(ctx, command, within, out, false); err == nil && in.OnBase && failed == "" {
		if err = runner.keepBuilt(ctx); err != nil {
			err = runner.logNotKept(ctx, err)
		}
	}
	return res, strings.TrimSpace(runner.missingServices + "\n" + failed), err
}

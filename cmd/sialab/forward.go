package main

import (
	"os"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/cmd/internal/cli"
)

// forwardName is the command by which this program runs itself inside of a sandbox.
const forwardName = "forward"

type forwardCmd struct {
	Command []string `arg:""`
}

// Run is the inside of the way to allowed hosts. It ends the process itself.
func (c *forwardCmd) Run(*cli.Env) error { return cli.ExitCode(sandbox.Forward(c.Command)) }

// forwardCommand is how this program runs itself as that command; nil when it does not know its own file.
func forwardCommand() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, forwardName}
}

package main

import (
	"os"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/cmd/internal/cli"
)

// forwardName is the name of the command, which is for internal use.
const forwardName = "forward"

type forwardCmd struct {
	Command []string `arg:""`
}

// Run runs a command inside the sandbox, with a way to the allowed hosts. It ends with the command's exit status.
func (c *forwardCmd) Run(*cli.Env) error {
	return cli.ExitCode(sandbox.Forward(c.Command))
}

// forwardCommand returns the command line with which this program runs itself as a forwarder; nil if the path of the
// executable is unknown.
func forwardCommand() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, forwardName}
}

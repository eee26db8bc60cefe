package cli

import (
	"os"

	"github.com/sia-bot/sia/agent/sandbox"
)

// ForwardName is the name of the command [ForwardCmd], which is for internal use.
const ForwardName = "forward"

// ForwardCmd is the command with which a program runs itself inside a sandbox.
type ForwardCmd struct {
	Command []string `arg:""`
}

// Run runs a command inside the sandbox, with a way to the allowed hosts. It ends with the command's exit status.
func (c *ForwardCmd) Run(*Env) error { return ExitCode(sandbox.Forward(c.Command)) }

// ForwardCommand returns the command line with which this program runs itself as a forwarder; nil if the path of the
// executable is unknown.
func ForwardCommand() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, ForwardName}
}

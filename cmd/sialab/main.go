// Command sialab measures, in invented worlds and on recorded outcomes, how SIA learns and decides. It is for
// developers of SIA and is not part of releases: `go run ./cmd/sialab --help`.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/sia-bot/sia/cmd/internal/cli"
)

// commandLine is the command line, with one field for each command.
type commandLine struct {
	Lessons    lessonsCmd    `cmd:"" help:"Find the lessons for a prompt among many, against looking at every one."`
	Learning   learningCmd   `cmd:"" help:"Play the choice of technique in an invented world, against simpler policies and against oracles."`
	Techniques techniquesCmd `cmd:"" help:"What other people's recorded attempts say of further ones, and SIA's learner played on them."`
	Coders     codersCmd     `cmd:"" help:"Play the choice of coder on outcomes that other people recorded, against simpler orders."`
	Policies   policiesCmd   `cmd:"" help:"Simulate how often policy learning is wrong: mining, ranking, experiments, guardrails."`
	Year       yearCmd       `cmd:"" help:"Play invented years of an installation, in which policies are changed by the real code."`
	Priors     priorsCmd     `cmd:"" help:"Simulate what a new installation gains from imported priors."`
	Bench      benchCmd      `cmd:"" help:"Measure against the histories of repositories."`

	Forward cli.ForwardCmd `cmd:"" hidden:"" passthrough:""`

	cli.Global `embed:""`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs a command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var c commandLine
	return cli.Program{
		Name: "sialab", Description: "Measure what SIA learns and decides by.", Commands: &c, Global: &c.Global,
		Options: []kong.Option{kong.Vars{"version": "sialab"}},
	}.Run(ctx, args, stdout, stderr)
}

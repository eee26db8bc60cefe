package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/abuse"
)

type benchAbuseCmd struct {
	Only       []string `help:"Attacks to try, by how their names begin; all when left out." placeholder:"NAME" sep:"none"`
	Disk       string   `help:"Folder of a small disk to be filled." hidden:""`
	cli.Format `embed:""`
}

// Help describes the attacks and the exit code.
func (*benchAbuseCmd) Help() string {
	return "Plays findings of testers, the numbered ones and those that held, against the program as it runs: a " +
		"simulated GitHub, real git, the sandbox, a scripted model. Exits 1 when an attack " +
		"was not held, or could not be tried."
}

// Run plays the attacks and prints one table.
func (c *benchAbuseCmd) Run(e *cli.Env) error {
	box, err := cli.OpenSandbox(e.Ctx, sandbox.Options{Logger: silentLogger()})
	if err != nil {
		return fmt.Errorf("what the sandbox holds can't be tried here: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	all, err := abuse.Run(e.Ctx, abuse.Config{Only: c.Only, Box: box, Forward: cli.ForwardCommand(),
		Stdlib: cli.StdlibDir(), Program: []string{self, "bench", "abuse"}, Disk: c.Disk,
		Progress: func(attack string) { fmt.Fprintf(e.Err, "%s…\n", attack) }})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("no attack's name begins with %s; leave --only out to try all", strings.Join(c.Only, ", "))
	}
	held := 0
	for _, f := range all {
		if f.Held {
			held++
		}
	}
	var failed error
	if held < len(all) {
		failed = fmt.Errorf("%d of %d attacks held; see those that did not", held, len(all))
	}
	if c.Output == "json" {
		return errors.Join(e.JSON(all), failed)
	}
	w := cli.NewTable(e.Out, "ATTACK", "LIMIT", "PEAK MB", "CPU s", "SECONDS", "HELD")
	for _, f := range all {
		word := "yes"
		if !f.Held {
			word = strings.TrimSpace("no " + f.Why)
		}
		w.Rowf("%s\t%s\t%.0f\t%.2f\t%.2f\t%s", f.Attack, f.Limit, f.Memory, f.CPU, f.Seconds, word)
	}
	err = w.Flush()
	e.Linef("\n%d of %d held", held, len(all))
	return errors.Join(err, failed)
}

package main

import "github.com/sia-bot/sia/cmd/internal/cli"

// benchGroup holds the measurements of sia bench. Without a subcommand, it measures the machine.
type benchGroup struct {
	Machine benchMachineCmd `cmd:"" default:"withargs" help:"Measure this machine: intake, loop, GitHub calls (the default)." example:"sia bench --output json"`
	Abuse   benchAbuseCmd   `cmd:"" help:"Attack a running SIA and its parts, and measure what that takes of this machine." example:"sia bench abuse"`
}

type benchMachineCmd struct {
	Deliveries int `help:"Deliveries of the burst." default:"10000" min:"1"`
	Rate       int `help:"Deliveries a second of the steady load." default:"300" min:"1" max:"100000"`
	Seconds    int `help:"Length of the steady load." default:"10" min:"1"`
	Tasks      int `help:"Tasks of which the loop is measured; each has two attempts." default:"20" min:"1"`
	cli.Format `embed:""`
}

// Run measures the production app against the simulator on this machine and prints one table. Absolute times are not
// comparable between machines; ratios are.
func (c *benchMachineCmd) Run(e *cli.Env) error {
	var all []cli.Figure
	for _, part := range []func(*cli.Env) ([]cli.Figure, error){c.intake, c.loop, c.log} {
		figures, err := part(e)
		if err != nil {
			return err
		}
		all = append(all, figures...)
	}
	return e.Figures(c.Output, all)
}

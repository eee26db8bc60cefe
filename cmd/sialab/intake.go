package main

import (
	"fmt"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/scale"
)

type intakeCmd struct {
	Sia        string `help:"The program sia." default:"bin/sia" type:"existingfile"`
	Probot     string `help:"Folder with the Probot app and what it needs; make bench-probot installs it." default:"lab/scale/probot" type:"existingdir"`
	Rounds     int    `help:"Rounds in which every server has its turn." default:"3" min:"1"`
	Burst      int    `help:"Deliveries of a turn that are sent as fast as they are answered." default:"10000" min:"1"`
	Rate       int    `help:"Deliveries a second after that." default:"300" min:"1"`
	Seconds    int    `help:"How long these are sent." default:"10" min:"1"`
	cli.Format `embed:""`
}

// Run measures, and compares each of SIA's figures with Probot's.
func (c *intakeCmd) Run(e *cli.Env) error {
	all, err := scale.Intake(e.Ctx, scale.IntakeConfig{Program: c.Sia, Probot: c.Probot, Rounds: c.Rounds, Burst: c.Burst,
		Rate: c.Rate, Seconds: c.Seconds, Log: e.Logger})
	if err != nil {
		return err
	}
	var figures []cli.Figure
	for _, a := range all {
		saturated, p99 := "", ""
		if a.Server != all[0].Server {
			saturated = fmt.Sprintf("≥ %.0f", 1.5*mean(all[0].PerSecond))
			p99 = fmt.Sprintf("≤ %.3g", cli.Quantile(all[0].Steady, .99)+3)
		}
		figures = append(figures,
			cli.Measured(a.Server+": a second, as fast as it answers", mean(a.PerSecond), "1/s", saturated,
				fmt.Sprintf("%d rounds of %d deliveries: %.0f", c.Rounds, c.Burst, a.PerSecond)),
			cli.Measured(a.Server+": answered, p50", cli.Quantile(a.Steady, .5), "ms", "",
				fmt.Sprintf("at %d/s, right after", c.Rate)),
			cli.Measured(a.Server+": answered, p99", cli.Quantile(a.Steady, .99), "ms", p99, ""),
			cli.Measured(a.Server+": refused, and sent again", float64(a.Refused), "", "", ""),
			cli.Measured(a.Server+": most memory", float64(a.Memory)/(1<<20), "MiB", "", ""))
	}
	return e.Figures(c.Output, figures)
}

func mean(all []float64) float64 {
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	return sum / float64(len(all))
}

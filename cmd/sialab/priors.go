package main

import (
	"fmt"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/synthetic"
)

type priorsCmd struct {
	Installations []int  `help:"Installations that share; a part of the table for each number." default:"50,150"`
	Worlds        int    `help:"Invented worlds for each figure." default:"25"`
	Seed          uint64 `help:"Seed of the first world." default:"9090909"`
	cli.Format    `embed:""`
}

// priorsReport is the JSON of sialab priors. It depends only on the flags.
type priorsReport struct {
	Synthetic bool               `json:"synthetic"` // true: the figures are of invented worlds
	Seed      uint64             `json:"seed"`
	Worlds    int                `json:"worlds"`
	Figures   []synthetic.Figure `json:"figures"`
}

// Run measures the benefit of priors for a new installation, and prints it.
func (c *priorsCmd) Run(e *cli.Env) error {
	report := priorsReport{Synthetic: true, Seed: c.Seed, Worlds: c.Worlds, Figures: []synthetic.Figure{}}
	for _, n := range c.Installations {
		fmt.Fprintf(e.Err, "priors: %d worlds of %d installations…\n", c.Worlds, n)
		figures, err := synthetic.Priors(e.Ctx, c.Seed, c.Worlds, n)
		if err != nil {
			return err
		}
		report.Figures = append(report.Figures, figures...)
	}
	if c.Output == "json" {
		return e.JSON(report)
	}
	fmt.Fprintf(e.Out, "SYNTHETIC: invented worlds, seed %d. Export, aggregation and import are the code that ships. The "+
		"figures say what\nsharing is worth in such a world, and nothing about how many tasks are resolved for "+
		"anybody.\n\n", c.Seed)
	return printSynthetic(e.Out, report.Figures)
}

package main

import (
	"fmt"
	"io"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/synthetic"
)

type policiesCmd struct {
	Worlds     int    `help:"Invented worlds for each figure; ranking is measured in a fifth of them." default:"1000"`
	Seed       uint64 `help:"Seed of the first world." default:"9090909"`
	cli.Format `embed:""`
}

// policiesReport is the JSON of sialab policies. It depends only on the flags.
type policiesReport struct {
	Synthetic bool                `json:"synthetic"` // true: the figures are of invented worlds
	Seed      uint64              `json:"seed"`
	Worlds    int                 `json:"worlds"`
	Subjects  []synthetic.Subject `json:"subjects"`
}

// Run measures how coordination policies are learned and judged, and prints the results.
func (c *policiesCmd) Run(e *cli.Env) error {
	fmt.Fprintf(e.Err, "policies: %d worlds…\n", c.Worlds)
	subjects, err := synthetic.Policies(e.Ctx, c.Seed, c.Worlds)
	if err != nil {
		return err
	}
	report := policiesReport{Synthetic: true, Seed: c.Seed, Worlds: c.Worlds, Subjects: subjects}
	return c.Print(e, report, func() error { return report.print(e.Out) })
}

func (r policiesReport) print(out io.Writer) error {
	fmt.Fprintf(out, "SYNTHETIC: invented worlds, seed %d. The figures say how often the arithmetic errs where the truth "+
		"is known; they say\nnothing about how good anybody's policies are. 95 %%: the interval that the number of worlds "+
		"leaves open.\n", r.Seed)
	for _, s := range r.Subjects {
		fmt.Fprintf(out, "\n%s, synthetic\n", s.Name)
		if err := printSynthetic(out, s.Figures); err != nil {
			return err
		}
	}
	return nil
}

// printSynthetic prints figures that were measured in invented worlds. Each world is named once.
func printSynthetic(out io.Writer, figures []synthetic.Figure) error {
	w := cli.NewTable(out, "WORLD", "MEASURED", "VALUE", "95 %", "TIMES", "REACH")
	world := ""
	for _, f := range figures {
		named := f.World
		if named == world {
			named = ""
		}
		world = f.World
		value, interval := figureText(f)
		w.Rowf("%s\t%s\t%s\t%s\t%d\t%s", named, f.What, value, interval, f.Times, f.Bar)
	}
	return w.Flush()
}

// figureText returns a figure and its interval in the figure's unit.
func figureText(f synthetic.Figure) (value, interval string) {
	switch f.Unit {
	case synthetic.Share:
		return fmt.Sprintf("%.1f %%", 100*f.Value), fmt.Sprintf("%.1f–%.1f", 100*f.Low, 100*f.High)
	case synthetic.Points:
		return fmt.Sprintf("%.1f points", f.Value), fmt.Sprintf("%.1f–%.1f", f.Low, f.High)
	}
	return fmt.Sprintf("%.0f", f.Value), fmt.Sprintf("%.0f–%.0f", f.Low, f.High)
}

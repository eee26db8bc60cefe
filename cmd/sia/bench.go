package main

import (
	"fmt"
	"slices"
	"text/tabwriter"
	"time"
)

// benchGroup are what can be measured; alone, sia bench measures the machine.
type benchGroup struct {
	Machine  benchMachineCmd  `cmd:"" default:"withargs" help:"Measure this machine: intake, loop, GitHub calls (the default)."`
	Lessons  benchLessonsCmd  `cmd:"" help:"Find the lessons for a prompt among many, against looking at every one."`
	Learning benchLearningCmd `cmd:"" help:"Play the choice of technique in an invented world, against simpler policies and against oracles."`
	Coders   benchCodersCmd   `cmd:"" help:"Play the choice of coder on outcomes that other people recorded, against simpler orders."`
	Policies benchPoliciesCmd `cmd:"" help:"Measure in invented worlds how often what policies are learned and judged by errs."`
	Year     benchYearCmd     `cmd:"" help:"Play invented years of an installation, in which policies are changed by the real code."`
	Priors   benchPriorsCmd   `cmd:"" help:"Measure in invented worlds what a new installation gains by what others have shared."`
	Abuse    benchAbuseCmd    `cmd:"" help:"Attack what reads strangers' input, and measure what that takes of this machine."`
	Sandbox  benchSandboxCmd  `cmd:"" help:"Measure what containing a command costs, and what attempts cost."`
}

type benchMachineCmd struct {
	Deliveries int    `help:"Deliveries of the burst." default:"10000"`
	Rate       int    `help:"Deliveries a second of the steady load." default:"300"`
	Seconds    int    `help:"Length of the steady load." default:"10"`
	Tasks      int    `help:"Tasks of which the loop is measured; each has two attempts." default:"20"`
	Output     string `help:"text or json." enum:"text,json" default:"text"`
}

// benchFigure is one measured value.
type benchFigure struct {
	What   string  `json:"what"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Target string  `json:"target,omitempty"`
	Note   string  `json:"note,omitempty"`
}

// Run measures the production app against the simulator on this machine and
// prints one table. Absolute times don't travel; ratios do.
func (c *benchMachineCmd) Run(e *commandEnv) error {
	var all []benchFigure
	for _, part := range []func(*commandEnv) ([]benchFigure, error){c.intake, c.loop, c.log} {
		figures, err := part(e)
		if err != nil {
			return err
		}
		all = append(all, figures...)
	}
	return printFigures(e, c.Output, all)
}

// printFigures prints what was measured.
func printFigures(e *commandEnv, output string, all []benchFigure) error {
	if output == "json" {
		return printJSON(e, all)
	}
	w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MEASURED\tVALUE\tUNIT\tREACH\tNOTE")
	for _, f := range all {
		fmt.Fprintf(w, "%s\t%.4g\t%s\t%s\t%s\n", f.What, f.Value, f.Unit, f.Target, f.Note)
	}
	return w.Flush()
}

// quantile is the q-quantile of durations in milliseconds, 0 without any.
func quantile(ds []time.Duration, q float64) float64 {
	if len(ds) == 0 {
		return 0
	}
	slices.Sort(ds)
	return float64(ds[min(len(ds)-1, int(q*float64(len(ds))))].Microseconds()) / 1000
}

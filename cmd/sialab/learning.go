package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/synthetic"
)

type learningCmd struct {
	Repos      []int  `help:"Repositories of the worlds; a table for each number." default:"1,10,50"`
	Worlds     int    `help:"Worlds of each kind; 200 is what docs/learning.md reports." default:"60"`
	Tasks      int    `help:"Tasks in each world." default:"5000"`
	Seed       uint64 `help:"Seed of the first world." default:"9090909"`
	Outcomes   int    `help:"Outcomes that the learner has seen whose decisions are timed." default:"100000"`
	Ablations  bool   `help:"Also play the learner with one part left out at a time."`
	cli.Format `embed:""`
}

// The worlds in which what the learner starts from misleads it: so many
// repositories, and no more tasks than this, for early errors must not be
// outweighed by many late tasks.
const (
	hardRepos = 10
	hardTasks = 1000
)

// timedDecisions is how many decisions their quantiles are taken of.
const timedDecisions = 20_000

// learningReport is the whole answer. Only Decision depends on the machine.
type learningReport struct {
	Synthetic bool            `json:"synthetic"` // true: the figures are of invented worlds
	Tables    []learningTable `json:"tables"`
	Decision  []cli.Figure    `json:"decision"`
}

type learningTable struct {
	World string `json:"world"`
	synthetic.Result
}

// Run plays all policies and prints how they did. The tables are a function of
// the flags; the times of decisions are this machine's.
func (c *learningCmd) Run(e *cli.Env) error {
	report := learningReport{Synthetic: true}
	for _, plan := range c.plans() {
		fmt.Fprintf(e.Err, "%s: %d worlds of %d tasks…\n", plan.World, plan.Worlds, plan.Tasks)
		var err error
		if plan.Result, err = synthetic.Run(e.Ctx, plan.Plan); err != nil {
			return fmt.Errorf("play %s: %w", plan.World, err)
		}
		report.Tables = append(report.Tables, plan)
	}
	fmt.Fprintf(e.Err, "decisions: %d after %d outcomes…\n", timedDecisions, c.Outcomes)
	var err error
	if report.Decision, err = c.decisions(e.Ctx); err != nil {
		return err
	}
	if c.Output == "json" {
		return e.JSON(report)
	}
	return report.print(e.Out)
}

// plans are the tables to fill in.
func (c *learningCmd) plans() (out []learningTable) {
	add := func(world string, p synthetic.Parameters, tasks int) {
		plan := synthetic.Plan{Parameters: p, Seed: c.Seed, Worlds: c.Worlds, Tasks: tasks, Ablations: c.Ablations}
		out = append(out, learningTable{World: world, Result: synthetic.Result{Plan: plan}})
	}
	for _, repos := range c.Repos {
		name := fmt.Sprintf("%d repositories", repos)
		if repos == 1 {
			name = "1 repository"
		}
		add(name, synthetic.DefaultParameters(repos), c.Tasks)
	}
	useless, prejudiced, wrong := synthetic.DefaultParameters(hardRepos), synthetic.DefaultParameters(hardRepos),
		synthetic.DefaultParameters(hardRepos)
	useless.Confidence, prejudiced.Confidence, wrong.RulesWrong = synthetic.Noise, synthetic.Prejudiced, true
	tasks := min(c.Tasks, hardTasks)
	add("useless confidence", useless, tasks)
	add("prejudiced confidence", prejudiced, tasks)
	add("wrong rules", wrong, tasks)
	return out
}

// decisions times decisions, with their reasons in words, of a learner that has
// seen many outcomes in a world of 50 repositories and every pattern.
func (c *learningCmd) decisions(ctx context.Context) ([]cli.Figure, error) {
	p := synthetic.DefaultParameters(50)
	p.Patterns = synthetic.MaxPatterns
	learner, requests, err := synthetic.Practice(p, c.Seed, c.Outcomes, timedDecisions)
	if err != nil {
		return nil, err
	}
	took := make([]time.Duration, 0, len(requests))
	for _, r := range requests {
		began := time.Now()
		learner.Decide(r)
		took = append(took, time.Since(began))
	}
	note := fmt.Sprintf("ten candidates, intervals and reason included, %d outcomes seen", c.Outcomes)
	return []cli.Figure{
		cli.Measured("decision, p50", cli.Quantile(took, .5), "ms", "", note),
		cli.Measured("decision, p99", cli.Quantile(took, .99), "ms", "≤ 1", ""),
	}, ctx.Err()
}

func (r learningReport) print(out io.Writer) error {
	fmt.Fprint(out, "SYNTHETIC: invented worlds. The figures rank policies; they say nothing about how many tasks are "+
		"resolved for anybody.\n",
		"A cell: resolved within five % / by the first technique % / techniques tried / cost. Gain: points resolved "+
			"over the fixed rules.\n")
	for _, t := range r.Tables {
		fmt.Fprintf(out, "\n%s, synthetic: %d worlds, seed %d\n", t.World, t.Worlds, t.Seed)
		w := cli.NewTable(out)
		w.Rowf("POLICY\tTASKS %s\tGAIN", strings.Join(t.Windows, "\t"))
		for _, row := range t.Rows {
			var windows strings.Builder
			for _, f := range row.Windows {
				fmt.Fprintf(&windows, "%.1f / %.1f / %.2f / %.2f\t", 100*f.Resolved, 100*f.First, f.Tried, f.Cost)
			}
			w.Rowf("%s\t%s%+.1f ± %.1f", row.Policy, windows.String(), 100*row.Gain, 100*row.Error)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "\nthis machine")
	w := cli.NewTable(out)
	for _, f := range r.Decision {
		w.Figure(f)
	}
	return w.Flush()
}

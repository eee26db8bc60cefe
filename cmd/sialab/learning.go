package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/synthetic"
)

type learningCmd struct {
	World      []string `help:"Worlds to play, by name; without it, all." sep:";"`
	Worlds     int      `help:"Worlds of each kind." default:"60"`
	Tasks      int      `help:"Tasks in each world." default:"1000"`
	Seed       uint64   `help:"Seed of the first world." default:"9090909"`
	Outcomes   int      `help:"Outcomes that the learner has seen whose decisions are timed." default:"100000"`
	Ablations  bool     `help:"Also play the learner with one part left out at a time."`
	cli.Format `embed:""`
}

// usualRepos is the default number of repositories of a world.
const usualRepos = 10

// invented lists the worlds, first that of the main result. Each of the others except the easy one changes one
// parameter of it.
var invented = []struct {
	name   string
	repos  int
	change func(*synthetic.Parameters)
}{
	{"as it is", usualRepos, func(*synthetic.Parameters) {}},
	{"1 repository", 1, func(*synthetic.Parameters) {}},
	{"50 repositories", 50, func(*synthetic.Parameters) {}},
	{"the model has half the signal", usualRepos, func(p *synthetic.Parameters) { p.Signal /= 2 }},
	{"the model is prejudiced only", usualRepos, func(p *synthetic.Parameters) { p.Confidence = synthetic.Prejudiced }},
	{"the model guesses", usualRepos, func(p *synthetic.Parameters) { p.Confidence = synthetic.Noise }},
	{"the model is right without bias", usualRepos,
		func(p *synthetic.Parameters) { p.Confidence = synthetic.Informative }},
	{"the rules are wrong", usualRepos, func(p *synthetic.Parameters) { p.RulesWrong = true }},
	{"techniques hardly differ", usualRepos, func(p *synthetic.Parameters) {
		p.RuleGood, p.SdGlobal, p.SdOrg, p.SdRepo = 0.3, 0.15, 0.1, 0.1
	}},
	{"60 % misdiagnosed", usualRepos, func(p *synthetic.Parameters) { p.Misdiagnosis = 0.6 }},
	{"tasks are equally hard", usualRepos, func(p *synthetic.Parameters) { p.SdTask, p.Unresolvable = 0.8, 0.08 }},
	{"easy: equally hard, and the model without bias", usualRepos,
		func(p *synthetic.Parameters) { *p = synthetic.EasyParameters(p.Repos) }},
}

// timedDecisions is the number of decisions for the quantiles.
const timedDecisions = 20_000

// learningReport is the JSON of sialab learning. Only Decision depends on the machine.
type learningReport struct {
	Synthetic bool            `json:"synthetic"` // true: the figures are of invented worlds
	Tables    []learningTable `json:"tables"`
	Decision  []cli.Figure    `json:"decision"`
}

type learningTable struct {
	World string `json:"world"`
	synthetic.Result
}

// Run plays all policies and prints their results. The tables depend only on the flags; the times of decisions depend
// on the machine.
func (c *learningCmd) Run(e *cli.Env) error {
	report := learningReport{Synthetic: true}
	plans, err := c.plans()
	if err != nil {
		return err
	}
	for _, plan := range plans {
		fmt.Fprintf(e.Err, "%s: %d worlds of %d tasks…\n", plan.World, plan.Worlds, plan.Tasks)
		if plan.Result, err = synthetic.Run(e.Ctx, plan.Plan); err != nil {
			return fmt.Errorf("play %s: %w", plan.World, err)
		}
		report.Tables = append(report.Tables, plan)
	}
	fmt.Fprintf(e.Err, "decisions: %d after %d outcomes…\n", timedDecisions, c.Outcomes)
	if report.Decision, err = c.decisions(e.Ctx); err != nil {
		return err
	}
	return c.Print(e, report, func() error { return report.print(e.Out) })
}

// plans returns the tables to fill in.
func (c *learningCmd) plans() (out []learningTable, err error) {
	names := make([]string, 0, len(invented))
	for _, world := range invented {
		names = append(names, world.name)
		if len(c.World) > 0 && !slices.Contains(c.World, world.name) {
			continue
		}
		p := synthetic.DefaultParameters(world.repos)
		world.change(&p)
		plan := synthetic.Plan{Parameters: p, Seed: c.Seed, Worlds: c.Worlds, Tasks: c.Tasks, Ablations: c.Ablations}
		out = append(out, learningTable{World: world.name, Result: synthetic.Result{Plan: plan}})
	}
	for _, name := range c.World {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("--world %s: there is no such world; there are: %s", name, strings.Join(names, "; "))
		}
	}
	return out, nil
}

// decisions measures the time of decisions, including their reasons in words, of a learner that has seen many outcomes
// in a world of 50 repositories and every pattern.
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
		"A cell: resolved within five % / by the first technique %. Then techniques tried and cost, of all tasks, and "+
			"points resolved\nover the fixed rules and over the expert table on the same tasks, with half of the 95 % "+
			"interval.\n")
	for _, t := range r.Tables {
		fmt.Fprintf(out, "\n%s, synthetic: %d worlds, seed %d\n", t.World, t.Worlds, t.Seed)
		w := cli.NewTable(out)
		w.Rowf("POLICY\tTASKS %s\tTRIED\tCOST\tOVER RULES\tOVER EXPERT", strings.Join(t.Windows, "\t"))
		for _, row := range t.Rows {
			var windows strings.Builder
			for _, f := range row.Windows {
				fmt.Fprintf(&windows, "%.1f / %.1f\t", 100*f.Resolved, 100*f.First)
			}
			o, rules, expert := row.Overall, row.OverRules, row.OverExpert
			w.Rowf("%s\t%s%.2f\t%.2f\t%+.1f ± %.1f\t%+.1f ± %.1f", row.Policy, windows.String(), o.Tried, o.Cost,
				100*rules.Mean, 100*rules.Half, 100*expert.Mean, 100*expert.Half)
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

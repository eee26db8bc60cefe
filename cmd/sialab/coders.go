package main

import (
	"fmt"
	"io"
	"os"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/recorded"
	"github.com/sia-bot/sia/policies"
)

type codersCmd struct {
	Data       string    `help:"CSV of outcomes: task, repo, model, resolved, cost_usd." required:"" type:"existingfile"`
	Train      string    `help:"CSV of other tasks to learn from; without it, random halves." type:"existingfile"`
	Value      []float64 `help:"What a resolved task is worth, in USD; a table for each." default:"0.25,1,4,16"`
	Halves     int       `help:"Random halves without --train." default:"20"`
	Streams    int       `help:"Random streams of all tasks that are played with learning." default:"15"`
	Seed       uint64    `help:"Seed of all that is random." default:"9090909"`
	cli.Format `embed:""`
}

// codersReport is the JSON of sialab coders. It depends only on the files and flags.
type codersReport struct {
	Recorded bool               `json:"recorded"` // true: other people's outcomes, no invented world
	Tasks    int                `json:"tasks"`
	Models   int                `json:"models"`
	Trained  int                `json:"trained"` // tasks of --train, 0 for random halves
	Sections []recorded.Section `json:"sections"`
}

// Run plays recorded outcomes with all players and prints their results.
func (c *codersCmd) Run(e *cli.Env) (err error) {
	plan := recorded.Plan{Values: c.Value, Halves: c.Halves, Streams: c.Streams, Seed: c.Seed,
		Parameters: policies.ShippedAssign().Parameters}
	if plan.Table, err = readOutcomes(c.Data); err != nil {
		return err
	}
	report := codersReport{Recorded: true, Tasks: len(plan.Table.Tasks), Models: len(plan.Table.Models)}
	if c.Train != "" {
		train, err := readOutcomes(c.Train)
		if err != nil {
			return err
		}
		plan.Train, report.Trained = &train, len(train.Tasks)
	}
	if report.Sections, err = recorded.Run(e.Ctx, plan); err != nil {
		return err
	}
	return c.Print(e, report, func() error { return report.print(e.Out) })
}

func readOutcomes(path string) (recorded.Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return recorded.Table{}, fmt.Errorf("read outcomes: %w", err)
	}
	defer f.Close()
	t, err := recorded.Read(f)
	if err != nil {
		return recorded.Table{}, fmt.Errorf("read outcomes of %s: %w", path, err)
	}
	return t, nil
}

func (r codersReport) print(out io.Writer) error {
	fmt.Fprintf(out, "RECORDED: other people's outcomes, %d tasks, %d models, at most five attempts a task, nobody told "+
		"why the last one failed.\n", r.Tasks, r.Models)
	if r.Trained > 0 {
		fmt.Fprintf(out, "Offline: learned from %d other tasks. ", r.Trained)
	} else {
		fmt.Fprint(out, "Offline: learned from one random half of the tasks, played on the other. ")
	}
	fmt.Fprintln(out, "Online: a random stream of all tasks; a model's average cost is known, how able it is is not.\n"+
		"Online, the orders and the strongest are told by all tasks, which only ours is not.")
	for _, s := range r.Sections {
		fmt.Fprintf(out, "\n%s, a resolved task is worth %g USD, %d tasks\n", s.Setting, s.Value, s.Tasks)
		w := cli.NewTable(out, "PLAYER", "NET USD", "95 %", "RESOLVED", "COST USD", "ATTEMPTS")
		for _, f := range s.Rows {
			w.Rowf("%s\t%.3f\t%.3f to %.3f\t%.1f %%\t%.3f\t%.2f",
				f.Player, f.Net, f.Low, f.High, 100*f.Resolved, f.Cost, f.Attempts)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

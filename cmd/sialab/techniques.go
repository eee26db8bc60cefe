package main

import (
	"fmt"
	"io"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/attempts"
)

type techniquesCmd struct {
	Rounds     string `help:"Checkout of github.com/madnanrizqu/model-agnostic-empirical-evaluation-of-test-driven-prompt-engineering." type:"existingdir"`
	CodeRover  string `help:"Checkout of github.com/nus-apr/auto-code-rover." type:"existingdir"`
	cli.Format `embed:""`
}

// techniquesReport is the JSON of sialab techniques. It depends only on the recorded outcomes.
type techniquesReport struct {
	Recorded bool                `json:"recorded"` // true: other people's outcomes, no invented world
	Sections []techniquesSection `json:"sections"`
}

type techniquesSection struct {
	Name    string            `json:"name"`
	Figures []attempts.Figure `json:"figures"`
}

// Run measures further attempts in recorded outcomes of others, plays SIA's learner on them, and prints both.
func (c *techniquesCmd) Run(e *cli.Env) error {
	report := techniquesReport{Recorded: true}
	add := func(name string, figures []attempts.Figure, err error) error {
		report.Sections = append(report.Sections, techniquesSection{name, figures})
		return err
	}
	aider, err := attempts.Aider()
	if err := add("aider's leaderboards; intervals are over models, TASKS counts them", aider, err); err != nil {
		return err
	}
	for _, from := range []struct {
		dir  string
		read func() (attempts.Source, error)
	}{
		{c.Rounds, func() (attempts.Source, error) { return attempts.Rounds(e.Ctx, c.Rounds) }},
		{c.CodeRover, func() (attempts.Source, error) { return attempts.CodeRover(c.CodeRover) }},
	} {
		if from.dir == "" {
			continue
		}
		s, err := from.read()
		if err != nil {
			return err
		}
		if err := add(s.Name, attempts.Figures(s), nil); err != nil {
			return err
		}
		played, err := attempts.Play(e.Ctx, s)
		if err := add(s.Name+": resolved within five attempts, of what the first did not resolve", played, err); err != nil {
			return err
		}
	}
	return c.Print(e, report, func() error { return report.print(e.Out) })
}

func (r techniquesReport) print(out io.Writer) error {
	fmt.Fprintln(out, "RECORDED: other people's agents, none of which is SIA. Shares in %, with the 95 % interval over "+
		"tasks; \"over\" is a difference in points\nin the same cases. An interval that holds 0 shows nothing.")
	for _, s := range r.Sections {
		fmt.Fprintf(out, "\n%s\n", s.Name)
		w := cli.NewTable(out, "MEASURED", "%", "95 %", "CASES", "TASKS")
		for _, f := range s.Figures {
			w.Rowf("%s\t%.1f\t%.1f to %.1f\t%d\t%d", f.What, 100*f.Value, 100*f.Low, 100*f.High, f.Cases, f.Tasks)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

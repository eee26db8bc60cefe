package main

import (
	"fmt"
	"slices"

	"github.com/sia-bot/sia/app/learn"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/mine"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

type policiesAnalyseCmd struct {
	openedDatabase `embed:""`
	Repo           string `help:"Only this repository: owner/name or GitHub's id." placeholder:"OWNER/NAME" type:"repository"`
}

// maxDecisions is the number of recent decisions of each type that are read.
const maxDecisions = 20_000

// analysis is the result of analysing the log, as JSON.
type analysis struct {
	Decisions int                `json:"decisions"` // decisions with a result
	Tasks     int                `json:"tasks"`
	Open      int                `json:"open"` // decisions without a result
	Options   []mine.OptionWorth `json:"options"`
	Findings  mine.Findings      `json:"findings"`
}

// Run prints the analysis of the log.
func (c *policiesAnalyseCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		repo, err := repositoryID(e, s, c.Repo)
		if err != nil {
			return err
		}
		var all []sia.Decision
		for _, typ := range policies.Types() {
			ds, err := s.DecisionsOf(e.Ctx, sia.DecisionType(typ), repo, maxDecisions)
			if err != nil {
				return err
			}
			all = append(all, ds...)
		}
		a := analyse(all)
		return c.Print(e, a, func() error { return showAnalysis(e, a) })
	})
}

// analyse returns the analysis of decisions of all types.
func analyse(all []sia.Decision) analysis {
	slices.SortStableFunc(all, func(a, b sia.Decision) int { return a.At.Compare(b.At) })
	contexts, _ := learn.Snapshots(all)
	var known []mine.Decision
	tasks := map[sia.TaskID]bool{}
	for i, d := range all {
		if m, ok := learn.ForMining(d, contexts[i]); ok {
			known = append(known, m)
			tasks[d.Task] = true
		}
	}
	return analysis{Decisions: len(known), Tasks: len(tasks), Open: len(all) - len(known),
		Options: nonNil(mine.Options(known)), Findings: mine.Look(known)}
}

func showAnalysis(e *cli.Env, a analysis) error {
	if a.Decisions == 0 {
		return e.Sayf("nothing to analyse yet: no decision has a result (%d are open)\n",
			a.Open)
	}
	e.Linef("%s about %s; of %d others it is not known whether an attempt was resolved\n",
		text.Count(a.Decisions, "decision"), text.Count(a.Tasks, "task"), a.Open)
	w := cli.NewTable(e.Out, "DECISION", "OPTION", "RESOLVED", "AGAINST EXPECTED", "WHERE CHANCE CHOSE")
	for _, o := range a.Options {
		contrast := "–"
		if c := o.Contrast; c != nil {
			contrast = fmt.Sprintf("%+.0f points (%+.0f to %+.0f), %d decisions", 100*c.Difference, 100*c.Low, 100*c.High,
				c.Randomised)
		}
		w.Rowf("%s\t%s\t%d of %d\t%+.0f points\t%s", o.Type, chosenText(o.Choice), o.Resolved, o.Tried,
			100*o.Credit, contrast)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(a.Findings.Found) == 0 {
		return e.Sayf("\nNothing stands out. Contexts of options with tasks enough to look at: %d.\n",
			a.Findings.Cells)
	}
	e.Linef("\n%s (contexts of options that were looked at: %d)", e.Style.Bold("What stands out"),
		a.Findings.Cells)
	for _, f := range a.Findings.Found {
		e.Linef("  %s: %s%s", f.Type, f.Text, othersText(f.Others))
	}
	return e.Sayf("\nThese are hypotheses: up to one in ten is chance, and no lot decided which tasks got what.\n")
}

// othersText returns the results of other options in the same context.
func othersText(t mine.Tally) string {
	if t.Tried == 0 {
		return ""
	}
	return fmt.Sprintf(" (other options there: %d of %d)", t.Resolved, t.Tried)
}

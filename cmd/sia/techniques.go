package main

import (
	"fmt"

	"github.com/sia-bot/sia/app/learn"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/technique"
)

type techniquesCmd struct {
	openedDatabase `embed:""`
	Repo           string `help:"Only of this repository, as owner/name or GitHub's id." placeholder:"OWNER/NAME" type:"repository"`
}

// trialRow is a technique that a repository has or had on trial.
type trialRow struct {
	Repository string           `json:"repository"`
	Technique  sia.TechniqueID  `json:"technique"`
	State      learn.TrialState `json:"state"` // waiting, on trial, kept or retired
	Resolved   float64          `json:"resolved"`
	Tried      float64          `json:"tried"`  // attempts, discounted after a change of models
	Better     float64          `json:"better"` // probability that it resolves more than the fifth best, 0–1
	File       string           `json:"file"`   // in the repository
}

// Run lists the techniques that repositories have or had on trial, with their results.
func (c *techniquesCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		repos, err := s.Repositories(e.Ctx, 0)
		if c.Repo != "" {
			var one store.Repository
			if one, err = knownRepository(e, s, c.Repo); err == nil {
				repos = []store.Repository{one}
			}
		}
		if err != nil {
			return err
		}
		var rows []trialRow
		for _, r := range repos {
			of, err := trialRows(e, s, r.Repo)
			if err != nil {
				return err
			}
			rows = append(rows, of...)
		}
		return cli.List(e, c.Format, rows,
			"no technique is on trial, or was: SIA proposes one in a pull request when a person solved what it could not",
			[]string{"REPOSITORY", "TECHNIQUE", "STATE", "RESOLVED", "BETTER THAN THE FIFTH BEST", "WHAT YOU CAN DO"},
			func(t cli.Table, r trialRow) {
				t.Rowf("%s\t%s\t%s\t%.3g of %.3g\t%s\t%s", r.Repository, r.Technique, r.State, r.Resolved, r.Tried,
					r.chance(), r.advice())
			})
	})
}

// trialRows returns the rows of one repository. The learner receives all outcomes from the first on, as in a server
// that starts.
func trialRows(e *cli.Env, s *store.Store, r sia.Repo) ([]trialRow, error) {
	reports, err := learn.TrialReports(e.Ctx, s, r, bandit.NewLearner(policies.ShippedTechnique()))
	rows := make([]trialRow, len(reports))
	for i, t := range reports {
		rows[i] = trialRow{r.String(), t.Technique, t.State, t.Resolved, t.Tried, t.Better, technique.FilePath(t.Technique)}
	}
	return rows, err
}

func (r trialRow) chance() string {
	if r.Tried == 0 {
		return "not tried yet"
	}
	return fmt.Sprintf("%.0f %%", 100*r.Better)
}

// advice returns what users can do about it.
func (r trialRow) advice() string {
	switch r.State {
	case learn.TrialRetired:
		return "remove " + r.File + "; it is not used any more"
	case learn.TrialKept:
		return "take the line trial: true out of " + r.File
	}
	return "nothing; trial: false in " + r.File + " has it used at once"
}

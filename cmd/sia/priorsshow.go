package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/sia-bot/sia/app/learn"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/policies/priors"
	"github.com/sia-bot/sia/sia"
)

// shownImport is an import as JSON.
type shownImport struct {
	Import        int64               `json:"import"`
	Source        string              `json:"source"`
	Key           string              `json:"key"` // public, that signed it
	At            time.Time           `json:"at"`
	Made          string              `json:"made"`
	Installations int                 `json:"installations"`
	Reports       int                 `json:"reports"`
	Cells         int                 `json:"cells"`
	Worth         *learn.ImportEffect `json:"worth,omitempty"` // of sia priors show
}

func shownImportOf(v store.PriorImport, p *priors.Priors) shownImport {
	return shownImport{Import: v.ID, Source: v.Source, Key: v.Key, At: v.At, Made: p.Made, Installations: p.Installations,
		Reports: p.Reports, Cells: p.Len()}
}

type priorsShowCmd struct {
	openedDatabase `embed:""`
}

// errNoPriors is said where none is in force.
var errNoPriors = errors.New("nothing is imported; sia priors import FILE does that")

// Run shows what is in force, and what it was worth.
func (c *priorsShowCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		id, err := s.PriorsInForce(e.Ctx)
		if err != nil {
			return err
		}
		if id == 0 {
			return errNoPriors
		}
		v, err := s.ImportedPriors(e.Ctx, id)
		if err != nil {
			return err
		}
		p, err := learn.Imported(e.Ctx, s, id)
		if err != nil {
			return err
		}
		ds, err := s.DecisionsOf(e.Ctx, sia.DecideTechnique, 0, mostAnalysed)
		if err != nil {
			return err
		}
		w, err := learn.MeasureImport(id, ds)
		if err != nil {
			return err
		}
		shown := shownImportOf(v, p)
		shown.Worth = &w
		if c.Output == "json" {
			return e.JSON(shown)
		}
		e.Linef("%s from %s, since %s\n%d cells of %d reports by %d installations, made on %s, signed by %s\n",
			e.Style.Bold(fmt.Sprintf("import %d", id)), v.Source, v.At.Local().Format(time.DateTime), p.Len(), p.Reports,
			p.Installations, p.Made, v.Key)
		e.Linef("the first technique resolved %d of %d tasks with it, and %d of %d that were decided without it",
			w.With.Resolved, w.With.Tried, w.Without.Resolved, w.Without.Tried)
		if w.Known() {
			e.Linef("that is %+.1f points, 95 %% interval %+.1f to %+.1f", 100*w.Difference, 100*w.Low, 100*w.High)
		} else {
			e.Linef("its benefit is not known yet: one task in ten is decided without it")
		}
		return nil
	})
}

type priorsRemoveCmd struct {
	openedDatabase `embed:""`
}

// Run ends that an import is in force. What was decided by it stays as it was logged.
func (c *priorsRemoveCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		id, err := s.PriorsInForce(e.Ctx)
		if err == nil {
			err = s.RemovePriors(e.Ctx)
		}
		if errors.Is(err, store.ErrNotFound) {
			return errNoPriors
		}
		if err != nil {
			return err
		}
		return c.Sayf(e, map[string]int64{"removed": id},
			"import %d is in force no longer; decisions that were made by it stay in the log\n", id)
	})
}

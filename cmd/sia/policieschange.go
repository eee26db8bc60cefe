package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/trial"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/replay"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/evolve"
)

// policyChangeFlags holds the flags of commands that change policies: they use the server's database, GitHub and, for
// proposals, a model.
type policyChangeFlags struct {
	serverFlags `embed:""`
	cli.Format  `embed:""`
	By          string `help:"Your login on GitHub, for the record." placeholder:"LOGIN"`
}

// by returns the author of the command for the record.
func (o policyChangeFlags) by() string {
	if o.By == "" {
		return "whoever runs the server"
	}
	return "@" + strings.TrimPrefix(o.By, "@")
}

// log records an action on a change for `sia audit`.
func (o policyChangeFlags) log(e *cli.Env, s *store.Store, what string, x store.Experiment) error {
	a := store.Act{At: s.Now(), Who: strings.TrimPrefix(o.By, "@"), What: what, Detail: x.Name + ": " + x.Change}
	if x.Alone {
		a.Repo = x.Place.ID
	}
	return s.LogAct(e.Ctx, a)
}

// with calls f with an evolver without a model. A server may run meanwhile.
func (o policyChangeFlags) with(e *cli.Env, f func(*trial.Evolver, *store.Store) error) error {
	return o.withModels(e, o.withoutModels(), f)
}

// withModels calls f with an evolver and the models of a server's flags.
func (o policyChangeFlags) withModels(
	e *cli.Env, s serverFlags, f func(*trial.Evolver, *store.Store) error,
) (err error) {
	if o.lacksDatabase() {
		return o.noDatabaseError()
	}
	c, err := s.config()
	if err != nil {
		return err
	}
	evolver, kept, closing, err := app.OpenEvolver(e.Ctx, c, app.Options{Logger: e.Logger, Duels: replay.DuelsIn(c.Dir)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	return f(evolver, kept)
}

// tell prints the present state of a change.
func (o policyChangeFlags) tell(e *cli.Env, x store.Experiment) error {
	return o.Sayf(e, x, "%s", experimentText(e, x))
}

// experimentText returns a change in a few lines.
func experimentText(e *cli.Env, x store.Experiment) cli.Styled {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s\n", x.Phase)
	fmt.Fprintf(&b, "  policy %s (%s) of %s: %s\n", x.Name, x.Decision, x.Place, x.Change)
	fmt.Fprintf(&b, "  because: %s (%s)\n", x.Reason, x.By)
	if x.Gate != "" {
		fmt.Fprintf(&b, "  tasks: %s\n", x.Gate)
	}
	fmt.Fprintf(&b, "  now: %s\n", x.Why)
	if x.PullURL != "" {
		fmt.Fprintf(&b, "  %s\n", x.PullURL)
	}
	return e.Style.Bold(x.ID) + cli.Styled(cli.Plain(b.String()))
}

type policiesEvolveCmd struct {
	policyChangeFlags `embed:""`
}

// Run does the server's daily work on experiments.
func (c *policiesEvolveCmd) Run(e *cli.Env) error {
	return c.withModels(e, c.serverFlags, func(evolver *trial.Evolver, s *store.Store) error {
		before, err := s.Experiments(e.Ctx, 0, false)
		if err != nil {
			return err
		}
		err = evolver.Evolve(e.Ctx)
		after, listed := s.Experiments(e.Ctx, 0, false)
		if err = errors.Join(err, listed); err != nil {
			return err
		}
		was := map[string]string{}
		for _, x := range before {
			was[x.ID] = string(x.Phase) + x.Why
		}
		moved := []store.Experiment{}
		for _, x := range after {
			if was[x.ID] != string(x.Phase)+x.Why {
				moved = append(moved, x)
			}
		}
		if c.Output == "json" {
			return e.JSON(moved)
		}
		for _, x := range moved {
			if err := c.tell(e, x); err != nil {
				return err
			}
		}
		if len(moved) == 0 {
			e.Linef("Nothing changed: no experiment has come to anything, and no policy has both room for a better one " +
				"(docs/evolution.md) and enough tasks to tell.")
		}
		return nil
	})
}

type policiesProposeCmd struct {
	policyChangeFlags `embed:""`
	Repo              string `help:"The repository in which the policy holds: owner/name or GitHub's id." required:"" placeholder:"OWNER/NAME" type:"repository"`
	Policy            string `arg:"" help:"The policy's name."`
	Change            string `arg:"" help:"The field and its new value, such as parameters.threshold=0.5; \x60sia policies show\x60 has the fields."`
	Reason            string `help:"Why, for the people who maintain the repository." required:""`
}

// Validate returns an error for an argument that is not a change.
func (c *policiesProposeCmd) Validate() error {
	if !strings.Contains(c.Change, "=") {
		return fmt.Errorf("%q is no change: want a field, = and its new value, such as parameters.threshold=0.5", c.Change)
	}
	return nil
}

// Run proposes a change.
func (c *policiesProposeCmd) Run(e *cli.Env) error {
	path, value, _ := strings.Cut(c.Change, "=")
	return c.with(e, func(evolver *trial.Evolver, s *store.Store) error {
		r, err := knownRepository(e, s, c.Repo)
		if err != nil {
			return err
		}
		x, err := evolver.Propose(e.Ctx, r.Installation, r.Repo, c.Policy,
			policies.Mutation{Path: strings.TrimSpace(path), Value: strings.TrimSpace(value), Reason: c.Reason}, c.by())
		var keyless trial.NoForgeError
		if errors.As(err, &keyless) && x.Phase == store.ExperimentDrafted {
			fmt.Fprintln(e.Err, "The change is saved. There is no app's key here to open its pull request: the server does "+
				"that within the hour, or `sia policies evolve` with the key.")
			err = nil
		}
		if err != nil {
			return err
		}
		return c.tell(e, x)
	})
}

type policiesPromoteCmd struct {
	policyChangeFlags `embed:""`
	Experiment        string `arg:"" help:"Its id; \x60sia policies explain\x60 lists them."`
}

// Run promotes a change.
func (c *policiesPromoteCmd) Run(e *cli.Env) error {
	return c.with(e, func(evolver *trial.Evolver, s *store.Store) error {
		x, err := evolver.Promote(e.Ctx, c.Experiment, c.by())
		if err != nil {
			return err
		}
		if err := c.log(e, s, "promote policy", x); err != nil {
			return err
		}
		return c.tell(e, x)
	})
}

type policiesRollbackCmd struct {
	policyChangeFlags `embed:""`
	Experiment        string `arg:"" help:"Its id; \x60sia policies explain\x60 lists them."`
}

// Run rolls a change back.
func (c *policiesRollbackCmd) Run(e *cli.Env) error {
	return c.with(e, func(evolver *trial.Evolver, s *store.Store) error {
		x, err := evolver.Rollback(e.Ctx, c.Experiment, c.by())
		var keyless trial.NoForgeError
		if errors.As(err, &keyless) && x.Phase == store.ExperimentReverting {
			fmt.Fprintln(e.Err, "The version before decides again from now on. There is no app's key here to put its file back "+
				"on GitHub: the server does that within a day, or `sia policies evolve` with the key.")
			err = nil
		}
		if err == nil {
			err = c.log(e, s, "roll back policy", x)
		}
		if err != nil {
			return err
		}
		return c.tell(e, x)
	})
}

type policiesFreezeCmd struct {
	policyChangeFlags `embed:""`
	Repo              string `help:"The repository in which the policy holds: owner/name or GitHub's id." required:"" placeholder:"OWNER/NAME" type:"repository"`
	Policy            string `arg:"" help:"The policy's name."`
	Days              int    `help:"For so many days." default:"14" min:"1" max:"3650"`
	Lift              bool   `help:"End the freeze."`
	Reason            string `help:"Why, for people." default:"a person froze it"`
}

// Run freezes a policy for some days, or ends its freeze.
func (c *policiesFreezeCmd) Run(e *cli.Env) error {
	return c.with(e, func(evolver *trial.Evolver, s *store.Store) error {
		r, err := knownRepository(e, s, c.Repo)
		if err != nil {
			return err
		}
		if c.Lift {
			if err := evolver.Unfreeze(e.Ctx, r.Installation, r.Repo, c.Policy, c.by()); err != nil {
				return err
			}
			return c.Sayf(e, map[string]any{"policy": c.Policy, "frozen": false}, "%s may be changed again\n", c.Policy)
		}
		until := time.Now().AddDate(0, 0, c.Days)
		h, err := evolver.Freeze(e.Ctx, r.Installation, r.Repo, c.Policy, until, c.by(), c.Reason)
		if err != nil {
			return err
		}
		return c.Sayf(e, map[string]any{"policy": h.Name, "decision": h.Decision, "frozen": true, "until": h.Until},
			"%s is not changed before %s; what is being tried goes on\n", h.Name, h.Until.Format(time.DateOnly))
	})
}

// explainedExperiment is a change with its complete history, as JSON.
type explainedExperiment struct {
	store.Experiment
	Standing evolve.Standing         `json:"standing"`
	Events   []store.ExperimentEvent `json:"events"`
}

// explainExperiments prints the history of changes: the one with an id, those of a policy, or all for an empty name.
// known is false if no change has that name.
func explainExperiments(e *cli.Env, s *store.Store, name string, asJSON bool) (known bool, err error) {
	all, err := s.Experiments(e.Ctx, 0, false)
	if err != nil {
		return false, err
	}
	out := []explainedExperiment{}
	for _, x := range all {
		if name != "" && x.ID != name && x.Name != name {
			continue
		}
		one := explainedExperiment{Experiment: x}
		if one.Standing, err = trial.StandingOf(e.Ctx, s, x); err != nil {
			return true, err
		}
		if one.Events, err = s.ExperimentEvents(e.Ctx, x.ID); err != nil {
			return true, err
		}
		out = append(out, one)
	}
	if name != "" && len(out) == 0 {
		return false, nil
	}
	if asJSON {
		return true, e.JSON(out)
	}
	if len(out) == 0 {
		e.Linef("No change of a policy was proposed yet. `sia policies explain TASK` explains a task's decisions.")
	}
	for _, x := range out {
		if err := printExperiment(e, x); err != nil {
			return true, err
		}
	}
	return true, nil
}

func printExperiment(e *cli.Env, x explainedExperiment) error {
	if err := e.Sayf("%s", experimentText(e, x.Experiment)); err != nil {
		return err
	}
	if n := x.Standing; n.Present.Tried+n.Candidate.Tried > 0 {
		e.Linef(
			"  tried: %d of %d resolved with it, %d of %d without; better %.3g of 20, worse %.3g of 10; %d tasks are open",
			n.Candidate.Resolved, n.Candidate.Tried, n.Present.Resolved, n.Present.Tried, n.E, n.Harm, n.Open)
	}
	w := cli.NewTable(e.Out)
	for _, g := range x.Standing.Guards {
		w.Rowf("  guard:\t%s\t%.0f %% before\t%d of %d with it since\t%d of %d held back", g.Metric, 100*g.Before,
			g.With.Resolved, g.With.Tried, g.HeldBack.Resolved, g.HeldBack.Tried)
	}
	for _, v := range x.Events {
		w.Rowf("  %s\t%s\t%s", v.At.UTC().Format("2006-01-02 15:04"), v.Phase, v.What)
	}
	return w.Flush()
}

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/app"
	improving "github.com/sia-bot/sia/app/improve"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/policies/evolve"
	"github.com/sia-bot/sia/sia/improve"
)

type improveSelfCmd struct {
	serverFlags     `embed:""`
	improveFlags    `embed:""`
	Repo            string        `help:"A checkout of SIA's source: its prompts, techniques and policies are improved, on a branch." type:"existingdir" xor:"where" required:"" placeholder:"PATH"`
	For             string        `help:"A repository of the app's: its techniques and policies are improved, by a pull request." xor:"where" required:"" placeholder:"OWNER/NAME" type:"repository"`
	SelfTest        string        `help:"With --repo: command that must pass afterwards, run in the sandbox on a copy." default:"go test ./sia/diagnose/ ./sia/technique/ ./policies/ && go test ./agent/ -run 'Prompt|Strangers|Technique'" placeholder:"CMD"`
	SelfTestTimeout time.Duration `help:"How long it may take." default:"20m" min:"1s" max:"1h"`
}

// Help returns the text of `sia improve self --help` below the first line.
func (*improveSelfCmd) Help() string {
	return "The model picks one of the files each cycle. With --repo, what is kept is a commit on a branch of its own; " +
		"the work tree stays as it is, and SIA has to be built and started anew to work by it. Replay tasks of the " +
		"checkout (`sia replay mine`) are played before and after. With --for, what is kept is a pull request in that " +
		"repository, and nothing is replayed: people judge it.\n\n" +
		"Exits 0 when something was proposed and 1 when not."
}

// Run improves SIA.
func (c *improveSelfCmd) Run(e *cli.Env) error {
	var a improveAnswer
	improveWhere := c.improveCheckout
	if c.For != "" {
		improveWhere = c.improveFor
	}
	err := improveWhere(e, &a)
	return a.end(e, c.Output, err)
}

// improveFor improves the techniques and policies of a repository.
func (c *improveSelfCmd) improveFor(e *cli.Env, a *improveAnswer) (err error) {
	models, order, err := a.prepare(e, c.modelFlags, c.improveFlags)
	if err != nil {
		return err
	}
	config, err := c.config()
	if err != nil {
		return err
	}
	proposals, err := app.OpenProposals(config, app.Options{Logger: e.Logger})
	if err != nil {
		return err
	}
	home, err := proposals.Find(e.Ctx, c.For)
	if err != nil {
		return err
	}
	root := filepath.Join(c.Dir, "improve", home.Repo.Owner, home.Repo.Name)
	p, err := openPlace(root, &order)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if order.Files, err = improving.WriteDefinitions(root, home.Files); err != nil {
		return err
	}
	return a.iterate(e, p, func(i *improving.Iteration) error {
		engine := improve.Config{Author: models.author, Critic: models.critic, Files: i.Files(),
			Checker: improving.Languages{Copy: i.Copy, Iteration: i.Name}, Tests: improving.Definitions{Files: i.Files()}}
		if err := a.run(e, p, i, engine, order); err != nil || len(a.changes) == 0 {
			return err
		}
		a.Data.Promotion, err = proposals.Propose(e.Ctx, home, i.Name, a.changes, a.Data.Cycles)
		return err
	})
}

// improveCheckout improves the prompts, techniques and policies of a checkout of SIA's source.
func (c *improveSelfCmd) improveCheckout(e *cli.Env, a *improveAnswer) (err error) {
	models, order, err := a.prepare(e, c.modelFlags, c.improveFlags, c.Repo)
	if err != nil {
		return err
	}
	checkout, err := openCheckout(e.Ctx, c.Repo)
	if err != nil {
		return err
	}
	box, err := cli.OpenSandbox(e.Ctx, sandbox.Options{Logger: silentLogger()})
	if err != nil {
		return fmt.Errorf("the self-test needs a sandbox: %w", err)
	}
	order.Files = checkout.files
	p, err := openPlace(checkout.root, &order)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	return a.iterate(e, p, func(i *improving.Iteration) error {
		engine := improve.Config{Author: models.author, Critic: models.critic, Files: i.Files(),
			Checker: improving.Languages{Sandbox: box, Copy: i.Copy, Iteration: i.Name},
			Replay: &improve.Replay{Replayer: builtCopy{root: checkout.root, iteration: i.Name, say: e.Err}, Dir: i.Copy,
				Judge: judgeReplay}}
		if engine.Tests, err = selfTest(p, i, box, c.SelfTest, c.SelfTestTimeout); err != nil {
			return err
		}
		if err := a.run(e, p, i, engine, order); err != nil || len(a.changes) == 0 {
			return err
		}
		branch := "sia/improve-" + strings.ToLower(i.Name)
		a.Data.Promotion, err = checkout.commit(e.Ctx, branch, a.changes, a.Data.Cycles, a.mask.Mask)
		return err
	})
}

// judgeReplay passes replayed tasks to the gate that judges changed policies, as the k-th proposal.
func judgeReplay(k int, pairs []improve.Pair) (improve.Judgement, error) {
	gate, err := evolve.NewGate(k)
	if err != nil {
		return improve.Judgement{}, err
	}
	for _, p := range pairs {
		gate.Add(p.After, p.Before)
	}
	return improve.Judgement{Verdict: improve.ReplayVerdict(gate.Verdict()), E: gate.E(), Threshold: gate.Threshold(),
		Why: gate.Why()}, nil
}

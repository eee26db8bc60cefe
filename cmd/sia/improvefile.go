package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	improving "github.com/sia-bot/sia/app/improve"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/improve"
)

type improveFileCmd struct {
	modelFlags      `embed:""`
	improveFlags    `embed:""`
	Path            string        `arg:"" name:"file" help:"The file; it may be one that is not there yet." type:"path"`
	SelfTest        string        `help:"Command that must pass afterwards, run in the sandbox on a copy of the project." placeholder:"CMD"`
	SelfTestTimeout time.Duration `help:"How long it may take." default:"60s" min:"1s" max:"1h"`
}

// Help returns the text of `sia improve --help` below the first line.
func (*improveFileCmd) Help() string {
	return "Each cycle asks the model for one improvement, makes it on a copy of the project, and judges it: does it " +
		"parse, does the self-test pass, what does an independent critique score it. What stands that replaces the file, " +
		"all at once; the version before is kept in .sia/improve.\n\n" +
		"Exits 0 when the file was improved and 1 when not. A file called self or file is named ./self or ./file."
}

// Run improves the file.
func (c *improveFileCmd) Run(e *cli.Env) error {
	var a improveAnswer
	err := c.improve(e, &a)
	return a.end(e, c.Output, err)
}

// improve improves the file. It fills in the answer up to the point of failure.
func (c *improveFileCmd) improve(e *cli.Env, a *improveAnswer) (err error) {
	if err := checkNotNested(c.Path); err != nil {
		return err
	}
	s, err := improving.Find(c.Path)
	if err != nil {
		return err
	}
	a.Data.File = s.Name
	models, order, err := a.prepare(e, c.modelFlags, c.improveFlags)
	if err != nil {
		return err
	}
	order.Files = []string{s.Name}
	box, err := c.sandbox(e.Ctx)
	if err != nil {
		return err
	}
	p, err := openPlace(s.Root, &order)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	return a.iterate(e, p, func(i *improving.Iteration) error {
		engine := improve.Config{Author: models.author, Critic: models.critic, Files: i.Files(),
			Checker: improving.Languages{Sandbox: box, Copy: i.Copy, Iteration: i.Name}}
		if c.SelfTest != "" {
			if engine.Tests, err = selfTest(p, i, box, c.SelfTest, c.SelfTestTimeout); err != nil {
				return err
			}
		}
		if err := a.run(e, p, i, engine, order); err != nil || len(a.changes) == 0 {
			return err
		}
		a.Data.Promotion, err = i.Promote(s, a.changes[0].After)
		return err
	})
}

// sandbox returns this machine's sandbox; nil if it has none and no self-test needs one.
func (c *improveFileCmd) sandbox(ctx context.Context) (*sandbox.Sandbox, error) {
	box, err := cli.OpenSandbox(ctx, sandbox.Options{Logger: silentLogger()})
	if err != nil && c.SelfTest != "" {
		return nil, fmt.Errorf("the self-test needs a sandbox: %w; or leave --self-test out", err)
	}
	return box, nil
}

// selfTest returns a tester that runs a command on an iteration's copy.
func selfTest(
	p *improving.Place, i *improving.Iteration, box *sandbox.Sandbox, command string, within time.Duration,
) (improve.Tester, error) {
	cache, err := p.Cache()
	if err != nil {
		return nil, err
	}
	return improving.SelfTest{Sandbox: box, Copy: i.Copy, Iteration: i.Name, Command: command, Within: within,
		Cache: cache, Modules: improving.GoModules(os.Getenv)}, nil
}

// openPlace locks a project's place and cleans up after killed runs. It adds the results of earlier cycles on the
// order's files to the order.
func openPlace(root string, order *improve.Order) (_ *improving.Place, err error) {
	p, err := improving.Open(root, time.Now)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if err := p.Tidy(); err != nil {
		return nil, err
	}
	past, err := p.History()
	if err != nil {
		return nil, err
	}
	for _, entry := range past {
		for _, name := range order.Files {
			if entry.File == name {
				order.Past = append(order.Past, entry.Cycle)
			}
		}
		if r := entry.Evaluation.Replay; r != nil && r.Proposal > 0 {
			order.Proposals++
		}
	}
	return p, nil
}

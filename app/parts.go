package app

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/app/dashboard"
	"github.com/sia-bot/sia/app/learn"
	"github.com/sia-bot/sia/app/runner"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/sweep"
	"github.com/sia-bot/sia/app/webhook"
	"github.com/sia-bot/sia/app/welcome"
	"github.com/sia-bot/sia/app/work"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/sia/diagnose"
)

// parts are used by the engine: to process deliveries, to execute effects, and for periodic work.
type parts struct {
	intake  *webhook.Intake
	worker  *work.Worker
	sweeper *sweep.Sweeper
	runners *runner.Dispatcher // runs attempts and tests on runners; nil: they run here
}

// newParts creates the parts. Without a sandbox, commands can't be run.
func newParts(g *deps, c Config, box *sandbox.Sandbox, ending <-chan struct{}) (p parts, err error) {
	welcomer, err := newWelcomer(g, c)
	if err != nil {
		return p, err
	}
	boards := dashboard.New(g.store, g.github, g.settings, c.links(), g.now)
	if p.intake, err = webhook.NewIntake(webhook.Deps{
		Store: g.store, GitHub: g.github, Settings: g.settings, Teacher: g.lessons, Memory: g.memory,
		Welcome: welcomer, Dashboards: boards, Allowed: c.Repos,
		Coders:  c.Models.coderNames(),
		Secrets: g.secrets, Logger: g.log, Now: g.now,
	}); err != nil {
		return p, err
	}
	looker := sweep.NewLooker(g.store, g.github, p.intake, g.now)
	var remote work.Remote
	if c.OnRunners && c.Roles.Has(RoleWork) {
		if p.runners, err = newDispatcher(g, c, ending); err != nil {
			return p, err
		}
		remote = p.runners
	}
	if p.worker, err = newWorker(g, c, box, looker, remote); err != nil {
		return p, err
	}
	p.sweeper = sweep.New(looker, p.worker, p.worker, g.lessons, g.evolver, boards, g.log)
	return p, nil
}

// newWelcomer creates the welcomer, which proposes settings to new repositories.
func newWelcomer(g *deps, c Config) (webhook.Welcomer, error) {
	if !c.Welcome {
		return welcome.Disabled{}, nil
	}
	return welcome.New(welcome.Deps{GitHub: g.github, Git: g.git, Settings: g.settings,
		Allowed: sandbox.AllowedHosts(c.SetupHosts).Allows, Now: g.now})
}

// newWorker creates the worker.
func newWorker(
	g *deps, c Config, box *sandbox.Sandbox, looker work.Looker, remote work.Remote,
) (_ *work.Worker, err error) {
	chooser, err := newChooser(g, c)
	if err != nil {
		return nil, err
	}
	chains := map[string]*llm.Chain{}
	for role, m := range c.Models.Roles() {
		if chains[role], err = m.Chain(role, g.log); err != nil {
			return nil, err
		}
	}
	commands, err := agent.NewCommands(box, sandboxCache(c), c.SetupHosts, g.now, g.log)
	if err != nil {
		return nil, err
	}
	coders, err := newCoders(g, c, commands)
	if err != nil {
		return nil, err
	}
	assign := policies.ShippedAssign()
	checkable := func(context.Context) bool { return commands.Runs() }
	if remote != nil {
		checkable = remote.RunsTests
	}
	decider := learn.NewDecider(g.store, coder.New(assign.Parameters), g.evolver, checkable, g.now)
	g.tests = evidence.NewLooker(box, filepath.Join(sandboxCache(c), "tests"), c.SetupHosts, g.now)
	return work.New(work.Deps{
		Store: g.store, GitHub: g.github, Git: g.git, Coders: coders,
		Diagnoser: &diagnose.Diagnoser{Model: chains["sia"], Log: g.log, LastTry: store.LastTry},
		Reviewer:  &diagnose.Reviewer{Model: chains["reviewer"], Log: g.log}, Checker: commands,
		Evidence: g.tests,
		Settings: g.settings, Looker: looker, Chooser: chooser,
		Decider: decider,
		Lessons: g.lessons, Memory: g.memory, Canceller: g.store, Remote: remote,
		Links: c.links(), Secrets: g.secrets, Logger: g.log, Now: g.now, Shared: store.IsPostgres(c.DB),
		Anonymous: g.local.Anonymous, BeforeTests: g.local.BeforeTests, Findings: g.local.Findings,
	})
}

// newChooser returns a chooser of techniques.
func newChooser(g *deps, c Config) (*learn.Chooser, error) {
	setup, err := setupOf(c)
	if err != nil {
		return nil, err
	}
	return learn.NewChooser(g.store, bandit.NewLearner(policies.ShippedTechnique()), setup, g.now), nil
}

// sandboxCache returns the folder with downloads and builds of the sandbox.
func sandboxCache(c Config) string { return filepath.Join(c.Dir, "sandbox") }

// newCoders creates the coders.
func newCoders(g *deps, c Config, commands *agent.Commands) (out work.Coders, err error) {
	table := policies.ShippedCoders()
	for _, one := range c.Models.coders() {
		model, err := one.Model.Chain(one.Name, g.log)
		if err != nil {
			return out, err
		}
		builtin, err := agent.NewBuiltin(agent.BuiltinConfig{
			Model: model, Edit: one.Edit, Commands: commands, Now: g.now, Logger: g.log,
		})
		if err != nil {
			return out, err
		}
		others, err := agent.NewCommandAgents(agent.CommandAgentsConfig{
			Upstream: one.Model.URL, Key: one.Model.Key, Model: one.Model.Model, Price: one.Model.Price,
			Window: one.Model.Context, ModelName: cmp.Or(one.Model.Name, one.Name), Observe: one.Model.observe,
			Timeout: one.Model.Timeout, Room: g.room, Commands: commands, Path: c.AgentPath, Env: c.AgentEnv,
			Environ: os.Environ(), Now: g.now, Logger: g.log,
		})
		if err != nil {
			return out, err
		}
		names := builtin.Tools()
		if c.OnRunners { // there is a sandbox there, and none here
			for _, t := range tool.SandboxTools() {
				names = append(names, t.Name)
			}
		}
		for _, name := range names { // of all: coders have different edit tools
			if !slices.Contains(out.Tools, name) {
				out.Tools = append(out.Tools, name)
			}
		}
		known, _ := table.Of(one.Model.Model)
		out.All = append(out.All, work.Coder{Name: one.Name, Builtin: builtin, Commands: others, Command: one.Command,
			Cost: one.cost(), Prior: known.Resolved, Known: known.Name})
	}
	return out, nil
}

// NewSandbox checks whether commands can be run here, and logs the result; nil: they can't. Compiled standard libraries
// are stored in the folder stdlib.
func NewSandbox(ctx context.Context, stdlib string, o Options) (*sandbox.Sandbox, error) {
	stdlib, err := filepath.Abs(stdlib)
	if err != nil {
		return nil, fmt.Errorf("find the folder for compiled standard libraries: %w", err)
	}
	so := o.Sandbox
	so.Stdlib, so.Logger = stdlib, o.Logger
	found := sandbox.Probe(ctx, so)
	if !found.OK() {
		o.Logger.WarnContext(ctx, "no sandbox: attempts can't build or test before they push", "why", found.String(), "fix",
			found.Fix)
		return nil, nil //nolint:nilnil // optional
	}
	about := []any{"found", found.String()}
	if found.Fix != "" {
		about = append(about, "fix", found.Fix)
	}
	o.Logger.InfoContext(ctx, "sandbox", about...)
	return sandbox.New(so, found)
}

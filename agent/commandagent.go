package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/gateway"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
)

// kindCommand is the agent.kind of agents that are commands.
const kindCommand = "command"

// defaultMaxAnswer is the maximum size of an answer, in tokens, if the command sets none.
const defaultMaxAnswer = 32_000

// CommandAgentsConfig is the configuration of [CommandAgents].
type CommandAgentsConfig struct {
	Upstream  string // base URL of the model's endpoint
	Key       string // API key of the endpoint; never visible to commands
	Model     string
	ModelName string // in the configuration of this server, for Observe
	Window    int    // its context window in tokens; 0: as in [gateway.Config]
	Price     llm.Price
	Timeout   time.Duration                   // of one answer; 0: as in [gateway.Config]
	Room      *gateway.Room                   // shared capacity of its gateways
	Observe   func(context.Context, llm.Call) // as in [llm.Config]; nil: nobody observes calls

	Commands *Commands // its sandbox runs the agents; nil: none are run
	Path     []string  // folders with installed agents, mounted read-only for commands
	Env      []string  // names of variables of this process that a repository may request
	Environ  []string  // environment of this process
	Now      func() time.Time
	Logger   *slog.Logger
}

// CommandAgents creates agents from the commands in repositories' settings. It is safe for concurrent use.
type CommandAgents struct{ CommandAgentsConfig }

// NewCommandAgents checks cfg and returns the agents.
func NewCommandAgents(cfg CommandAgentsConfig) (*CommandAgents, error) {
	c := &CommandAgents{CommandAgentsConfig: cfg}
	for i, dir := range c.Path {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("find the agents of --agent-path: %w", err)
		}
		c.Path = slices.Clone(c.Path)
		c.Path[i] = abs
	}
	return c, nil
}

// Agent returns the agent for a repository's settings; ok is false unless they name a command.
func (c *CommandAgents) Agent(s sia.AgentSettings) (_ Agent, ok bool) {
	if s.Kind != kindCommand {
		return nil, false
	}
	a := &CommandAgent{CommandAgents: c, line: strings.TrimSpace(s.Command), wanted: s.Env}
	a.preset, a.known = presetNamed(a.line)
	return a, true
}

// Find returns the path of a preset's program on this server; "" if it is not installed in a folder visible to
// commands.
func (c *CommandAgents) Find(p Preset) string {
	folders := []string{"/usr/local/bin", "/usr/bin", "/bin"}
	for _, dir := range append(c.bins(), folders...) {
		if file := filepath.Join(dir, p.Program); sandbox.IsProgram(file) {
			return file
		}
	}
	return ""
}

// bins returns the folders of Path that may hold programs.
func (c *CommandAgents) bins() (dirs []string) {
	for _, dir := range c.Path {
		dirs = append(dirs, filepath.Join(dir, "bin"), filepath.Join(dir, "node_modules", ".bin"), dir)
	}
	return dirs
}

// CommandAgent is an agent that is an external program. It runs in the sandbox, reads the brief from its standard
// input, and changes files in its working directory. It can reach only the model, through a gateway.
type CommandAgent struct {
	*CommandAgents
	line   string // command in the settings
	wanted []string
	preset Preset
	known  bool // line is the name of a preset
}

// Name returns the preset's name or "command", and the model's name.
func (a *CommandAgent) Name() string {
	return cmp.Or(a.preset.Name, kindCommand) + "/" + a.Model
}

// Run makes one attempt; see [Agent].
func (a *CommandAgent) Run(ctx context.Context, in Input, rec Recorder) (Result, error) {
	if why := a.impossible(); why != "" {
		return Result{End: sia.EndError, Reason: why},
			&sia.Error{Op: fmt.Sprintf("attempt %d on %s#%d", in.Attempt, in.Repo, in.Issue), Permanent: true, Message: why}
	}
	if in.Planning {
		in = in.forPlanning()
	}
	root, err := os.OpenRoot(in.Dir)
	if err != nil {
		return Result{End: sia.EndError}, fmt.Errorf("open work tree: %w", err)
	}
	defer root.Close()
	spent := newBudget(in.Limits, a.Price, a.Now)
	spent.bookSaved(in.Saved)
	r := &commandRun{
		CommandAgent: a, in: in, turnJournal: turnJournal{rec: rec, budget: spent},
		env:  tool.Env{Root: root, CanAsk: in.CanAsk, Test: in.Test, Past: in.Past, Cover: in.Cover},
		loop: loopDetector{hazard: in.Hazard, observeOnly: in.Spare, ignoreIdle: true},
		out:  &outputParser{read: a.preset.read, now: a.Now}, calls: make(chan *paidAnswer),
	}
	r.meter = &callMeter{defaultMax: defaultMaxAnswer, budget: spent, onCall: r.passCall, onLimit: r.endAtLimit}
	res, err := r.attempt(ctx)
	a.Logger.InfoContext(ctx, "attempt ended", "task", in.Task, "attempt", in.Attempt, "agent", a.Name(),
		"end", res.End, "reason", res.Reason, "turns", res.Turns, "credits", res.Cost.String())
	return res, err
}

// impossible returns why the command can't run here and how to fix that; "" if it can run.
func (a *CommandAgent) impossible() string {
	const orBuiltin = ", or set agent.kind to builtin in .sia/config.yml on the base branch"
	switch {
	case a.line == "":
		return "agent.kind is command, and agent.command does not say which: set it to claude-code, codex, opencode, " +
			"aider or a command line" + orBuiltin
	case !a.Commands.Runs():
		return "agents that are commands run in the sandbox only, and this server has none: `sia doctor` says how it " +
			"gets " +
			"one. Do that" + orBuiltin
	case !a.Commands.sandbox.CanFetch():
		return "the way from the sandbox to the model can't be opened: this program does not know its own file. Start " +
			"SIA " +
			"from a file" + orBuiltin
	case a.known && a.Find(a.preset) == "":
		return fmt.Sprintf("%s is not installed where commands can see it: %s, and name its folder with "+
			"--agent-path", a.preset.Program, a.preset.Install) + orBuiltin
	}
	return ""
}

// variables returns the environment of the command. refused are the variables in the settings that it does not get.
func (a *CommandAgent) variables(to modelAccess) (env, refused []string) {
	env = append(to.env(), "PATH="+strings.Join(append(a.bins(), a.Commands.pathWith(depsAt)), ":"))
	if a.preset.env != nil {
		env = append(env, a.preset.env(to)...)
	}
	for _, name := range a.wanted {
		value, set := sandbox.LookupEnv(a.Environ, name)
		switch {
		case !slices.Contains(a.Env, name):
			refused = append(refused, clipLine(name, 100)+" (the server does not allow it with --agent-env)")
		case !set:
			refused = append(refused, clipLine(name, 100)+" (the server does not have it)")
		default:
			env = append(env, name+"="+value)
		}
	}
	return env, refused
}

// observe passes a call on to Observe.
func (a *CommandAgent) observe(ctx context.Context, e gateway.Ended) {
	if a.Observe != nil {
		a.Observe(ctx, ObservedCall(llm.Config{Name: a.ModelName, BaseURL: a.Upstream, Model: a.Model,
			Price: a.Price}, e))
	}
}

// gateway opens a gateway to the model for one attempt and returns how to reach it.
func (a *CommandAgent) gateway(m gateway.Meter) (*gateway.Gateway, modelAccess, error) {
	to := modelAccess{url: sandbox.ServiceURL, token: "sia-attempt-" + rand.Text(), model: a.Model}
	g, err := gateway.New(gateway.Config{Upstream: a.Upstream, Key: a.Key, Model: a.Model, Window: a.Window,
		Token: to.token, Meter: m, Room: a.Room, Begin: a.Timeout, Logger: a.Logger, Observe: a.observe})
	return g, to, err
}

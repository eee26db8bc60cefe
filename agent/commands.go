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

// kindCommand is agent.kind for agents that are commands.
const kindCommand = "command"

// longestAnswer is how many tokens an answer may have when the command does not say.
const longestAnswer = 32_000

// CommandsConfig is what agents that are commands are made of.
type CommandsConfig struct {
	Upstream string // base URL of the model's endpoint
	Key      string // its key; commands never see it
	Model    string
	Price    llm.Price

	Sandbox *sandbox.Sandbox // runs them; nil: none runs
	Path    []string         // folders with agents that are installed on this server, shown to commands read-only
	Env     []string         // names of this process's variables that a repository may ask for
	Environ []string         // of this process; nil: os.Environ
	Cache   string           // as in BuiltinConfig
	Hosts   []string         // as in BuiltinConfig
	Now     func() time.Time // nil: time.Now
	Logger  *slog.Logger     // nil: nothing is logged
}

// Commands makes agents of commands. It is safe for concurrent use.
type Commands struct {
	CommandsConfig
	shop *workshop // nil: no sandbox
}

// NewCommands checks cfg.
func NewCommands(cfg CommandsConfig) (*Commands, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Environ == nil {
		cfg.Environ = os.Environ()
	}
	c := &Commands{CommandsConfig: cfg}
	for i, dir := range c.Path {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("find the agents of --agent-path: %w", err)
		}
		c.Path = slices.Clone(c.Path)
		c.Path[i] = abs
	}
	if cfg.Sandbox != nil {
		shop, err := newWorkshop(cfg.Sandbox, cfg.Cache, cfg.Hosts, cfg.Now, cfg.Logger)
		if err != nil {
			return nil, fmt.Errorf("make agents of commands: %w", err)
		}
		c.shop = shop
	}
	return c, nil
}

// Agent is the agent that a repository's settings name, when they name a command.
func (c *Commands) Agent(s sia.AgentSettings) (_ Agent, ok bool) {
	if s.Kind != kindCommand {
		return nil, false
	}
	a := &Command{Commands: c, line: strings.TrimSpace(s.Command), wanted: s.Env}
	a.preset, a.known = preset(a.line)
	return a, true
}

// Find is where a preset's program is on this server; "" when it is not installed
// where commands could see it.
func (c *Commands) Find(p Preset) string {
	folders := []string{"/usr/local/bin", "/usr/bin", "/bin"}
	for _, dir := range append(c.bins(), folders...) {
		file := filepath.Join(dir, p.Program)
		if st, err := os.Stat(file); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// bins are the folders of Path that hold programs.
func (c *Commands) bins() (dirs []string) {
	for _, dir := range c.Path {
		dirs = append(dirs, filepath.Join(dir, "bin"), filepath.Join(dir, "node_modules", ".bin"), dir)
	}
	return dirs
}

// Command is an agent that is a command: a program of somebody else's, which runs
// in the sandbox, reads the brief from its standard input, and changes the files of
// the folder it starts in. It reaches the model through a gateway and nothing else.
type Command struct {
	*Commands
	line   string // what the settings say
	wanted []string
	preset Preset
	known  bool // preset is one
}

// Name is the preset's name or "command", and the model's name.
func (a *Command) Name() string {
	return cmp.Or(a.preset.Name, kindCommand) + "/" + a.Model
}

// Run makes one attempt; see [Agent].
func (a *Command) Run(ctx context.Context, in Input, rec Recorder) (Result, error) {
	if why := a.impossible(); why != "" {
		return Result{End: sia.EndError, Reason: why}, &sia.Error{Op: fmt.Sprintf("attempt %d on %s#%d", in.Attempt, in.Repo, in.Issue), Permanent: true, Message: why}
	}
	if in.Planning {
		in = in.toPlan()
	}
	root, err := os.OpenRoot(in.Dir)
	if err != nil {
		return Result{End: sia.EndError}, fmt.Errorf("open work tree: %w", err)
	}
	defer root.Close()
	r := &commandRun{
		Command: a, in: in, journal: journal{rec: rec, clock: a.Now},
		env: tool.Env{Root: root, Dir: in.Dir, Test: in.Test},
		out: &heard{read: a.preset.read}, answers: make(chan answer),
	}
	spent := newBudget(in.Limits, a.Price, a.Now)
	spent.take(in.Saved)
	r.meter = &meter{longest: longestAnswer, budget: spent, answered: r.answered, spent: r.spent}
	res, err := r.attempt(ctx)
	a.Logger.InfoContext(ctx, "attempt ended", "repo", in.Repo, "issue", in.Issue, "attempt", in.Attempt, "agent", a.Name(),
		"end", res.End, "reason", res.Reason, "turns", res.Turns, "credits", res.Cost.String())
	return res, err
}

// impossible says why the command can't run here and what to do; "" when it can.
func (a *Command) impossible() string {
	const orBuiltin = ", or set agent.kind to builtin in .sia/config.yml on the base branch"
	switch {
	case a.line == "":
		return "agent.kind is command, and agent.command does not say which: set it to claude-code, codex, opencode, aider or a command line" + orBuiltin
	case a.shop == nil:
		return "agents that are commands run in the sandbox only, and this server has none: `sia doctor` says how it gets one. Do that" + orBuiltin
	case !a.Sandbox.CanFetch():
		return "the way from the sandbox to the model can't be opened: this program does not know its own file. Start SIA from a file" + orBuiltin
	case a.known && a.Find(a.preset) == "":
		return fmt.Sprintf("%s is not installed where commands can see it: on the server, %s, and name its folder with --agent-path", a.preset.Program, a.preset.Install) + orBuiltin
	}
	return ""
}

// variables are the environment that the command gets, and which of those that the
// settings ask for it does not.
func (a *Command) variables(to access) (env, refused []string) {
	env = append(to.env(), "PATH="+strings.Join(append(a.bins(), a.Sandbox.Path()), ":"))
	if a.preset.env != nil {
		env = append(env, a.preset.env(to)...)
	}
	for _, name := range a.wanted {
		value, set := lookupEnv(a.Environ, name)
		switch {
		case !slices.Contains(a.Env, name):
			refused = append(refused, oneLine(name, 100)+" (the server does not allow it with --agent-env)")
		case !set:
			refused = append(refused, oneLine(name, 100)+" (the server does not have it)")
		default:
			env = append(env, name+"="+value)
		}
	}
	return env, refused
}

func lookupEnv(environ []string, name string) (string, bool) {
	for _, e := range slices.Backward(environ) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// gateway opens the way to the model for one attempt.
func (a *Command) gateway(m gateway.Meter) (*gateway.Gateway, access, error) {
	to := access{url: sandbox.ServiceURL, token: "sia-attempt-" + rand.Text(), model: a.Model}
	g, err := gateway.New(gateway.Config{Upstream: a.Upstream, Key: a.Key, Model: a.Model, Token: to.token, Meter: m, Logger: a.Logger})
	return g, to, err
}

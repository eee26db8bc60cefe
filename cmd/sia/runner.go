package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/runner"
	"github.com/sia-bot/sia/app/runner/worker"
	"github.com/sia-bot/sia/cmd/internal/cli"
)

// runnerGroup holds the commands about runners. Without a subcommand, sia runner is a runner.
type runnerGroup struct {
	Start  runnerStartCmd  `cmd:"" default:"withargs" help:"Make attempts for a server until told to end (the default)." example:"sia runner --server https://sia.example.com --token-file token"`
	Pods   runnerPodsCmd   `cmd:"" help:"Have each attempt made in a Pod of Kubernetes, until told to end." example:"sia runner pods --server https://sia.example.com --token-file token --namespace attempts --image ghcr.io/sia-bot/sia"`
	Add    runnerAddCmd    `cmd:"" help:"Add a runner on the server, and print its token, once." example:"sia runner add mill"`
	List   runnerListCmd   `cmd:"" help:"List the runners: when each was last seen, and what it does." example:"sia runner list"`
	Remove runnerRemoveCmd `cmd:"" help:"Remove a runner: its token is no longer valid, and another goes on with what it makes." example:"sia runner remove mill"`

	Attempt runnerAttemptCmd `cmd:"" hidden:"" help:"Makes one attempt in a Pod of sia runner pods, with the pass of the attempt in SIA_ATTEMPT_PASS."`
}

// runnerServer is the server of a runner.
type runnerServer struct {
	Server    string `help:"The server's address, such as https://sia.example.com." env:"SIA_RUNNER_SERVER" placeholder:"URL" required:"" type:"web"`
	PlainHTTP bool   `name:"plain-http" help:"Let the server's address begin with http:// on another machine: token and code cross the network in the open." env:"SIA_RUNNER_PLAIN_HTTP"`
}

// Validate returns an error for an address that no token may be sent to.
func (s runnerServer) Validate() error {
	_, err := runner.NewClient(s.Server, s.PlainHTTP)
	return err
}

// runnerTaker holds the flags of commands that take attempts from a server.
type runnerTaker struct {
	runnerServer `embed:""`
	TokenFile    string `help:"File with this runner's token, which sia runner add printed on the server; SIA_RUNNER_TOKEN in the environment is the other way." env:"SIA_RUNNER_TOKEN_FILE" type:"path" placeholder:"FILE"`
	Attempts     int    `help:"Attempts at the same time. A runner that can run tests also takes one run of tests beside them." default:"1" env:"SIA_RUNNER_ATTEMPTS" min:"1" max:"10000"`
}

// runnerMachine configures where attempts run. It has no flag for keys of GitHub or of models: none are needed.
type runnerMachine struct {
	Dir       string   `help:"Folder for git mirrors, work trees and caches." default:"${dir}/runner" env:"SIA_RUNNER_DIR" type:"path"`
	AgentPath []string `help:"Folders with coding agents for agent.kind: command, such as the prefix of an npm install -g; the agents see them read-only." env:"SIA_AGENT_PATH" placeholder:"FOLDER"`
	AgentEnv  []string `help:"Names of environment variables of this runner that a repository's agent.env may ask for; default: none." env:"SIA_AGENT_ENV" placeholder:"NAME"`
}

// runnerStartCmd is a runner.
type runnerStartCmd struct {
	runnerTaker   `embed:""`
	runnerMachine `embed:""`
	Once          bool `help:"Make one attempt, and end."`
}

// runnerToken is the environment variable with a runner's token.
const runnerToken = "SIA_RUNNER_TOKEN"

// token returns this runner's token and removes it from the environment, so that child processes don't inherit it.
func (c runnerTaker) token() (string, error) {
	token := os.Getenv(runnerToken)
	if c.TokenFile != "" {
		b, err := os.ReadFile(c.TokenFile)
		if err != nil {
			return "", fmt.Errorf("this runner's token: %w; check --token-file", err)
		}
		token = string(b)
	}
	if token = strings.TrimSpace(token); token == "" {
		return "", cli.Usage("this runner's token is missing: `sia runner add NAME` on the server prints one; put it into " +
			"a file for --token-file, or into " + runnerToken)
	}
	if !strings.HasPrefix(token, runner.TokenPrefix) || len(strings.Fields(token)) != 1 {
		return "", cli.Usage("--token-file or %s is not the token of a runner, which is one word that begins with %s",
			runnerToken, runner.TokenPrefix)
	}
	return token, os.Unsetenv(runnerToken)
}

// config returns the configuration of attempts.
func (c runnerMachine) config(e *cli.Env, s runnerServer) (worker.Config, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return worker.Config{}, fmt.Errorf("this runner's folder can't be made: %w; set --dir to one that it may write to",
			err)
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return worker.Config{}, err
	}
	box, err := app.NewSandbox(e.Ctx, filepath.Join(dir, "sandbox", "stdlib"),
		app.Options{Logger: e.Logger, Sandbox: sandbox.Options{Self: cli.ForwardCommand()}})
	if err != nil {
		return worker.Config{}, err
	}
	about := versionLine() + ", without a sandbox"
	if box != nil {
		about = versionLine() + ", with a sandbox"
	}
	return worker.Config{Server: s.Server, PlainHTTP: s.PlainHTTP, Dir: dir, Sandbox: box, AgentPath: c.AgentPath,
		AgentEnv: c.AgentEnv, About: about, Logger: e.Logger}, nil
}

// Run makes attempts until its context ends.
func (c *runnerStartCmd) Run(e *cli.Env) error {
	token, err := c.token()
	if err != nil {
		return err
	}
	config, err := c.config(e, c.runnerServer)
	if err != nil {
		return err
	}
	config.Token, config.Attempts, config.Once = token, c.Attempts, c.Once
	e.Logger.InfoContext(e.Ctx, "waiting for attempts", "server", c.Server, "attempts", c.Attempts)
	return worker.Run(e.Ctx, config)
}

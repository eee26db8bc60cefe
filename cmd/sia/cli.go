package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/alecthomas/kong"

	"github.com/sia-bot/sia/sia/secret"
)

// Exit codes: done, failed, wrong usage, and ended by Ctrl-C as shells have it.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitStopped = 130
)

// cli is the command line: one field per command.
type cli struct {
	Serve      serveCmd      `cmd:"" help:"Receive webhooks and work on labelled issues."`
	Demo       demoCmd       `cmd:"" help:"Play the whole product on this machine: no account, no key."`
	Setup      setupCmd      `cmd:"" help:"Register the GitHub App with a browser and store its keys: no secret is copied."`
	Doctor     doctorGroup   `cmd:"" help:"Check the configuration against the real endpoints and say what to do."`
	Task       taskCmd       `cmd:"" help:"Tasks: list, show and explain them; stop, pause, resume and retry one."`
	Pause      pauseCmd      `cmd:"" help:"Pause everything, a repository or an installation, at once."`
	Resume     resumeCmd     `cmd:"" help:"Go on with what was paused as a whole."`
	Lessons    lessonsCmd    `cmd:"" help:"What was learned: list, show, teach, forget, import and export it."`
	Techniques techniquesCmd `cmd:"" help:"How the techniques fare that repositories have on trial."`
	Policies   policiesCmd   `cmd:"" help:"By what SIA decides: list, show, check and compare policies, put one to the log, and see what the log teaches."`
	Priors     priorsCmd     `cmd:"" help:"Learn from other installations, and share counts of what worked: export, aggregate, import, show, remove."`
	Replay     replayCmd     `cmd:"" help:"Tasks from a repository's own history: find them, and have coders do them again."`
	Memory     memoryCmd     `cmd:"" help:"Show what SIA remembers of a task, and rebuild a lost database from it."`
	Reindex    reindexCmd    `cmd:"" help:"Rebuild a lost database from the memory branches."`
	Improve    improveCmd    `cmd:"" help:"Improve a file, or SIA itself: one change at a time, kept only where it shows to be better."`
	Log        logCmd        `cmd:"" help:"Read failing CI logs: what failed, its signature and class."`
	Tamper     tamperCmd     `cmd:"" help:"Find what a change does to tests and checks, as SIA does of an attempt."`
	Config     configCmd     `cmd:"" help:"Check a repository's .sia/config.yml, begin one, or print its schema."`
	Migrate    migrateCmd    `cmd:"" help:"Bring the database's schema up to date."`
	Backup     backupCmd     `cmd:"" help:"Copy the database while a server works on it, and say what else a restore needs."`
	Health     healthCmd     `cmd:"" help:"Ask a running server whether it is up, or ready to work."`
	Notify     notifyCmd     `cmd:"" help:"Messages to people who are not looking at GitHub: try whether they arrive."`
	Bench      benchGroup    `cmd:"" help:"Measure: this machine, the choice of technique, or the sandbox."`
	Forward    forwardCmd    `cmd:"" hidden:"" passthrough:"" help:"Runs inside the sandbox, between a setup command and the hosts that it may reach."`
	Complete   completeCmd   `cmd:"" hidden:"" passthrough:"" help:"Says how a command line may go on; shells ask."`
	Completion completionCmd `cmd:"" help:"Print what makes bash, zsh or fish complete sia's command lines."`
	Man        manCmd        `cmd:"" help:"Print the manual page of a command, or write those of all."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
	Help       helpCmd       `cmd:"" help:"Say what a command does: sia help [command]."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version, as the command version does."`

	LogLevel slog.Level `help:"Least severe messages that are logged: debug, info, warn or error." default:"info" env:"SIA_LOG_LEVEL"`
	LogJSON  bool       `help:"Log as JSON." env:"SIA_LOG_JSON"`
}

// commandEnv is what commands work with.
type commandEnv struct {
	ctx    context.Context
	out    io.Writer
	err    io.Writer
	logger *slog.Logger
	style  textStyle
}

// errShown ends a command as failed after it has said everything itself.
var errShown = errors.New("failed")

// exitPanic carries an exit code out of kong, which wants to end the process.
type exitPanic int

// runCommand runs a command line and returns the exit code.
func runCommand(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if asksForImproveJSON(args) {
		return answerInJSON(ctx, args, stdout, stderr)
	}
	return runArgs(ctx, args, stdout, stderr)
}

// runArgs parses the arguments, runs the command and returns the exit code.
func runArgs(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case exitPanic:
			code = int(e)
		default:
			panic(e)
		}
	}()
	var c cli
	parser, err := newParser(&c, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "sia:", err)
		return exitUsage
	}
	if len(args) > 0 && args[0] == "help" {
		args = append(args[1:len(args):len(args)], "--help")
	}
	kctx, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(stderr, "sia: %v\nTry `%s --help`.\n", err, mistaken(err))
		return exitUsage
	}
	opts := &slog.HandlerOptions{Level: c.LogLevel}
	var handler slog.Handler = slog.NewTextHandler(stderr, opts)
	if c.LogJSON {
		handler = slog.NewJSONHandler(stderr, opts)
	}
	e := &commandEnv{ctx: ctx, out: stdout, err: stderr, logger: slog.New((&secret.Masker{}).Handler(handler)),
		style: styleFor(stdout)}
	if err := kctx.Run(e, parser); err != nil {
		if ctx.Err() != nil { // what came of being told to end is no failure
			fmt.Fprintln(stderr, "Stopped.")
			return exitStopped
		}
		if !errors.Is(err, errShown) {
			fmt.Fprintln(stderr, "sia:", secret.Mask(err.Error()))
		}
		return exitFailed
	}
	return exitDone
}

// newParser is what reads command lines. Where kong would end the process, it panics with an
// exitPanic.
func newParser(c *cli, stdout, stderr io.Writer) (*kong.Kong, error) {
	return kong.New(c,
		kong.Name("sia"),
		kong.Description("SIA resolves labelled issues with a coding agent, and when the checks say no, it finds out why. "+
			"Only checks declare success."),
		kong.Vars{"dir": defaultDir(), "version": versionLine(), "states": stateNames()}, kong.Configuration(yamlFile),
		kong.Writers(stdout, stderr), kong.Exit(func(n int) { panic(exitPanic(n)) }),
	)
}

// mistaken is the command that a wrong command line was about, as far as that is known.
func mistaken(err error) string {
	var wrong *kong.ParseError
	if errors.As(err, &wrong) && wrong.Context != nil {
		if n := wrong.Context.Selected(); n != nil {
			return "sia " + n.Path()
		}
	}
	return "sia"
}

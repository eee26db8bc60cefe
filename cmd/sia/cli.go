package main

import (
	"context"
	"io"

	"github.com/alecthomas/kong"

	"github.com/sia-bot/sia/cmd/internal/cli"
)

// commandLine is the command line, with one field for each command.
type commandLine struct {
	Demo    demoCmd    `cmd:"" group:"use" help:"Play the whole product on this machine: no account, no key." example:"sia demo --keep"`
	Run     runCmd     `cmd:"" group:"use" help:"Work on an issue in a clone on this machine, without GitHub." example:"sia run --issue \"Half of 5 is 2.5, not 2\" --model-url https://api.openai.com/v1 --model gpt-5"`
	Task    taskCmd    `cmd:"" group:"use" help:"List, show, explain, stop, pause, resume and retry tasks."`
	Pause   pauseCmd   `cmd:"" group:"use" help:"Pause everything, a repository or an installation." example:"sia pause --repo acme/shop --reason \"release day\""`
	Resume  resumeCmd  `cmd:"" group:"use" help:"Go on with what was paused as a whole." example:"sia resume --repo acme/shop"`
	Memory  memoryCmd  `cmd:"" group:"use" help:"Show what SIA remembers of a task or repository."`
	Config  configCmd  `cmd:"" group:"use" help:"Check, explain or begin a repository's .sia/config.yml."`
	Log     logCmd     `cmd:"" group:"use" help:"Read failing CI logs: what failed, its signature and class." example:"sia log build.log"`
	Tamper  tamperCmd  `cmd:"" group:"use" help:"Find what a change does to tests and checks." example:"sia tamper main HEAD"`
	Improve improveCmd `cmd:"" group:"use" help:"Improve a file, or SIA itself, where it shows to be better."`

	Serve   serveCmd        `cmd:"" group:"operate" help:"Receive webhooks and work on labelled issues." example:"sia serve --public-url https://sia.example.com"`
	Runner  runnerGroup     `cmd:"" group:"operate" help:"Make attempts for a server on another machine, without its keys." example:"sia runner --server https://sia.example.com --token-file token"`
	Setup   setupCmd        `cmd:"" group:"operate" help:"Register the GitHub App with a browser and store its keys." example:"sia setup --org acme --public-url https://sia.example.com"`
	Doctor  doctorGroup     `cmd:"" group:"operate" help:"Check the configuration, and say what to do."`
	Migrate migrateCmd      `cmd:"" group:"operate" help:"Bring the database's schema up to date." example:"sia migrate --dir /var/lib/sia"`
	Backup  backupCmd       `cmd:"" group:"operate" help:"Copy the database while a server works on it." example:"sia backup /backup/sia.db"`
	Reindex reindexCmd      `cmd:"" group:"operate" help:"Rebuild a lost database from the memory branches." example:"sia reindex --repo acme/shop"`
	Health  healthCmd       `cmd:"" group:"operate" help:"Ask a running server whether it is up, or ready to work." example:"sia health --ready"`
	Notify  notifyCmd       `cmd:"" group:"operate" help:"Try whether messages to a chat or by e-mail arrive."`
	Audit   auditCmd        `cmd:"" group:"operate" help:"List who did what, when: people and SIA itself." example:"sia audit --person mia --since 7d"`
	Forget  forgetPersonCmd `cmd:"" name:"forget-person" group:"operate" help:"Erase a person from the database." example:"sia forget-person mia --dry-run"`
	Bench   benchGroup      `cmd:"" group:"operate" help:"Measure this machine, or attack this installation."`

	Lessons  lessonsCmd  `cmd:"" group:"learn" help:"List, show, learn, prove, share and forget lessons."`
	Policies policiesCmd `cmd:"" group:"learn" help:"List, check, compare, simulate and change policies."`
	Priors   priorsCmd   `cmd:"" group:"learn" help:"Learn from other installations, and share counts with them."`
	Replay   replayCmd   `cmd:"" group:"learn" help:"Find tasks in a repository's history, and play them again."`

	Completion completionCmd `cmd:"" group:"shell" help:"Print what makes bash, zsh or fish complete command lines." example:"sia completion bash"`
	Man        manCmd        `cmd:"" group:"shell" help:"Print the manual page of a command, or write those of all." example:"sia man task list"`
	Version    versionCmd    `cmd:"" group:"shell" help:"Print the version." example:"sia version --output json"`
	Help       helpCmd       `cmd:"" group:"shell" help:"Say what a command does: sia help [command]." example:"sia help task show"`

	Forward  cli.ForwardCmd `cmd:"" hidden:"" passthrough:"" group:"shell" help:"Runs inside the sandbox, between a setup command and the hosts that it may reach."`
	Complete completeCmd    `cmd:"" hidden:"" passthrough:"" group:"shell" help:"Says how a command line may go on; shells ask."`

	cli.Global `embed:""`
}

// runCommand runs a command line and returns the exit code.
func runCommand(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if asksForImproveJSON(args) {
		return answerInJSON(ctx, args, stdout, stderr)
	}
	return runArgs(ctx, args, stdout, stderr)
}

// runArgs runs a command line and prints the command's own output.
func runArgs(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var c commandLine
	return program(&c).Run(ctx, args, stdout, stderr)
}

// program returns sia's command line.
func program(c *commandLine) cli.Program {
	return cli.Program{
		Name: "sia",
		Description: "SIA resolves labelled issues with a coding agent, and when the checks say no, it finds out why. " +
			"Only checks declare success.",
		Commands: c, Global: &c.Global, NeedAll: []string{"completion", "man", "help", "complete"},
		Options: append(valueTypes(), []kong.Option{
			kong.Vars{"dir": defaultDir(), "version": versionLine(), "states": stateNames()}, kong.Configuration(yamlFile),
			kong.ExplicitGroups(commandGroups),
		}...),
	}
}

// newParser returns the parser of sia's command lines; see [cli.Program.Parser].
func newParser(c *commandLine, stdout, stderr io.Writer) (*kong.Kong, error) {
	return program(c).Parser(stdout, stderr)
}

// commandGroups are the groups of commands and flags in --help, in this order.
var commandGroups = []kong.Group{
	{Key: "use", Title: "Use:"},
	{Key: "operate", Title: "Operate:"},
	{Key: "learn", Title: "Learn:"},
	{Key: "shell", Title: "Shell:"},
	{Key: "model", Title: "The model:"}, // flags of sia run
}

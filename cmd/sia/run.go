package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/cmd/internal/localrun"
	"github.com/sia-bot/sia/sia/text"
)

type runCmd struct {
	Repo       string        `help:"Clone to work on. What is not committed is not part of it. Default: this folder." default:"." type:"path" placeholder:"PATH"`
	Issue      string        `help:"What to do: a Markdown file with the title in its first line, - for standard input, or the words themselves." required:"" placeholder:"FILE|TEXT"`
	Base       string        `help:"Branch or commit to begin at; default: what is checked out." placeholder:"REF"`
	Branch     string        `help:"Name of the new branch with the result; default: sia/ and the title's words." placeholder:"NAME"`
	Test       string        `help:"Command that says whether the work is right; default: agent.test of .sia/config.yml, or the one that the repository's files name." placeholder:"COMMAND"`
	Setup      []string      `help:"Commands that prepare a fresh checkout; default: agent.setup, or what the repository's files name." sep:"none" placeholder:"COMMAND"`
	SetupHosts []string      `help:"Hosts that setup may fetch packages from; default: those of the package managers that were found." placeholder:"NAME"`
	AgentPath  []string      `help:"Folders with coding agents for agent.kind: command, such as the prefix of an npm install -g; the agents see them read-only." env:"SIA_AGENT_PATH" placeholder:"FOLDER"`
	AgentEnv   []string      `help:"Names of environment variables of yours that agent.env of .sia/config.yml may ask for; default: none." env:"SIA_AGENT_ENV" placeholder:"NAME"`
	TestWithin time.Duration `help:"How long the test command may take; default: 15m." default:"15m" placeholder:"DURATION" min:"1s"`
	Credits    int           `help:"Budget, in credits of 0.01 USD; default: budget.task of .sia/config.yml, which is 100 where it says nothing." placeholder:"N" min:"1"`
	Approaches int           `help:"How many different approaches are tried; default: sia.max_approaches of .sia/config.yml, which is 5 where it says nothing." placeholder:"N" min:"1" max:"20"`
	Memory     bool          `help:"Commit what was learned to the branch too, under .sia/."`
	Free       bool          `help:"The models cost nothing, so no budget ends an attempt." env:"SIA_FREE"`
	Verbose    bool          `short:"v" help:"Show SIA's own log on standard error."`

	diff bool // print the diff after the result

	modelFlags `embed:"" group:"model"`
	cli.Format `embed:""`
}

// Help returns the text of `sia run --help` below the first line.
func (*runCmd) Help() string {
	return `The work is done in a copy. The clone gets one new branch; what is checked out stays as it is.
The exit status is 0 if the test command passed on the result, and 1 if not.`
}

// noModel is the error of commands that need a model.
const noModel = "no model is named: give --model-url and --model, and --model-key where it needs one, or " +
	"SIA_MODEL_URL, SIA_MODEL and SIA_MODEL_KEY"

// Validate returns an error for hosts that can't be allowed, and for folders that are none.
func (c *runCmd) Validate() error {
	for _, dir := range c.AgentPath {
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			return fmt.Errorf("--agent-path: there is no folder %s", dir)
		}
	}
	return app.Config{SetupHosts: c.SetupHosts}.CheckNames()
}

// Run works on one issue.
func (c *runCmd) Run(e *cli.Env) error {
	out := localrun.NotBegun()
	o, err := c.options(e)
	if err == nil {
		out, err = localrun.Run(e, o)
	}
	if c.Output == "json" {
		if err != nil {
			out.Passed, out.Reason = false, cli.ErrorText(err)
		}
		unread := e.JSON(out)
		if errors.Is(unread, syscall.EPIPE) && out.Branch != "" {
			e.Progressf("sia: nobody read the result; the change is on the branch %s", out.Branch)
		}
		err = errors.Join(err, unread)
	}
	if err == nil && !out.Passed {
		return cli.ErrShown
	}
	return err
}

// options returns the inputs of the run, with the issue and the models.
func (c *runCmd) options(e *cli.Env) (o localrun.Options, err error) {
	o = localrun.Options{Repo: c.Repo, Base: c.Base, Branch: c.Branch, Test: c.Test, Setup: c.Setup,
		SetupHosts: c.SetupHosts, AgentPath: c.AgentPath, AgentEnv: c.AgentEnv, TestWithin: c.TestWithin,
		Credits: c.Credits, Approaches: c.Approaches, Memory: c.Memory, Free: c.Free, Dir: userDir(), Logger: silentLogger(),
		JSON: c.Output == "json", Diff: c.diff}
	if c.Verbose {
		o.Logger = e.Logger
	}
	if o.Models, err = c.models(); err != nil {
		return o, err
	}
	if o.Models.Coder.URL == "" || o.Models.Coder.Model == "" {
		return o, cli.Usage("%s", noModel)
	}
	o.Models.Coder.Name = cmp.Or(o.Models.Coder.Name, o.Models.Coder.Model) // name that users know
	o.Title, o.Body, err = readIssue(c.Issue, e.Stdin())
	return o, err
}

// GitHub's limits, in characters; a file is read up to maxIssueFile bytes.
const (
	maxIssueTitle = 256
	maxIssueBody  = 65_536
	maxIssueFile  = 4 * maxIssueBody
)

// namesFile matches an argument that means a file, even if it does not exist, and not the text of an issue.
var namesFile = regexp.MustCompile(`^\S*(/\S*|\.(md|markdown|txt))$`)

// readIssue reads an issue from a file, from standard input or from the argument itself.
func readIssue(from string, stdin io.Reader) (title, body string, err error) {
	words, name := []byte(from), "--issue"
	if _, statErr := os.Stat(from); from == "-" {
		name = "the issue on standard input"
		words, err = io.ReadAll(io.LimitReader(stdin, maxIssueFile+1))
	} else if statErr == nil || namesFile.MatchString(from) {
		name = "--issue " + from
		words, err = readPrefix(from, maxIssueFile+1)
	}
	if err != nil && from != "-" {
		return "", "", cli.Usage("--issue: %s", cli.ErrorText(err))
	}
	if err != nil {
		return "", "", fmt.Errorf("--issue: %w", err)
	}
	if len(words) <= maxIssueFile && (!utf8.Valid(words) || bytes.IndexByte(words, 0) >= 0) { // UTF-16 has zero bytes
		return "", "", cli.Usage("%s is not UTF-8 text", name)
	}
	whole := strings.TrimSpace(strings.TrimPrefix(string(words), "\ufeff")) // written by some editors on Windows
	title, body, _ = strings.Cut(whole, "\n")
	title, body = strings.TrimSpace(strings.TrimLeft(title, "# ")), strings.TrimSpace(body)
	if len(words) > maxIssueFile || utf8.RuneCountInString(whole) > maxIssueBody {
		return "", "", cli.Usage("%s is too long: an issue has %d characters at most; say what to do, and name the files "+
			"that have the rest", name, maxIssueBody)
	}
	if title == "" {
		return "", "", cli.Usage("%s is empty: its first line says what to do", name)
	}
	if utf8.RuneCountInString(title) > maxIssueTitle {
		title, body = text.Clip(title, maxIssueTitle), whole
	}
	return title, body, nil
}

// readPrefix returns up to most bytes of a file.
func readPrefix(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

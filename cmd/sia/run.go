package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/config"
	"github.com/sia-bot/sia/sia/project"
)

type runCmd struct {
	Repo       string        `help:"Clone to work on. What is not committed is not part of it." default:"." type:"path" placeholder:"PATH"`
	Issue      string        `help:"What to do: a Markdown file with the title in its first line, - for standard input, or the words themselves." required:"" placeholder:"FILE|TEXT"`
	Base       string        `help:"Branch or commit to begin at; default: what is checked out." placeholder:"REF"`
	Branch     string        `help:"Name of the new branch with the result; default: sia/ and the title's words." placeholder:"NAME"`
	Test       string        `help:"Command that says whether the work is right; default: agent.test of .sia/config.yml, or the one that the repository's files name." placeholder:"COMMAND"`
	Setup      []string      `help:"Commands that prepare a fresh checkout; default: agent.setup, or what the repository's files name." sep:"none" placeholder:"COMMAND"`
	SetupHosts []string      `help:"Hosts that setup may fetch packages from; default: those of the package managers that were found." placeholder:"NAME"`
	TestWithin time.Duration `help:"How long the test command may take." default:"15m" placeholder:"DURATION"`
	Credits    int           `help:"Budget, in credits of 0.01 USD; .sia/config.yml of the repository outranks it." default:"100" placeholder:"N"`
	Approaches int           `help:"How many different approaches are tried; .sia/config.yml outranks it." default:"5" placeholder:"N"`
	Memory     bool          `help:"Commit what was learned to the branch too, under .sia/."`
	Free       bool          `help:"The models cost nothing, so no budget ends an attempt." env:"SIA_FREE"`
	Verbose    bool          `short:"v" help:"Show SIA's own log on standard error."`

	modelFlags `embed:"" group:"folded:serve"`
	cli.Format `embed:""`
}

// withDefaults fills in what no flag said.
func (c runCmd) withDefaults() *runCmd {
	c.TestWithin, c.Credits = cmp.Or(c.TestWithin, 15*time.Minute), cmp.Or(c.Credits, 100)
	c.Approaches, c.Output = cmp.Or(c.Approaches, 5), cmp.Or(c.Output, "text")
	return &c
}

// Help is shown below the flags.
func (*runCmd) Help() string {
	return `The work is done in a copy. The clone gets one new branch; what is checked out stays as it is.
The exit status is 0 if the test command passed on the result, and 1 if not.`
}

// Validate refuses, as wrong usage, what can't be worked with.
func (c *runCmd) Validate() error {
	switch {
	case c.Credits < 1:
		return fmt.Errorf("--credits %d: give a number from 1", c.Credits)
	case c.Approaches < 1 || c.Approaches > 20:
		return fmt.Errorf("--approaches %d: give a number from 1 to 20", c.Approaches)
	case c.TestWithin <= 0:
		return fmt.Errorf("--test-within %s: the time has to be positive", c.TestWithin)
	}
	return c.check()
}

// localJob is what a run works on.
type localJob struct {
	git         localGit
	name        string // of the repository
	base        string // commit
	baseName    string // branch that the run works against
	branch      string // of the result
	title, body string
	test, why   string // the test command, and where it is from
	setup       []string
	services    []string // images, as of agent.services
	hosts       []string
	label       string   // that starts a task
	required    []string // names of checks that the repository's settings require
	settings    []byte   // for a repository without any; nil: it has its own
	models      app.ModelsConfig
	submodules  []string // paths
}

// Run works on one issue.
func (c *runCmd) Run(e *cli.Env) error {
	job, err := c.job(e)
	if err != nil {
		return err
	}
	r, err := c.start(e, job)
	if err != nil {
		return err
	}
	out, err := r.play()
	err = errors.Join(err, r.close())
	if err != nil {
		return err
	}
	if c.Output == "json" {
		err = e.JSON(out)
	} else {
		r.show(out)
	}
	if err == nil && !out.Passed {
		return cli.ErrShown
	}
	return err
}

// job finds out what there is to do, and refuses what can't be done before anything is started.
func (c *runCmd) job(e *cli.Env) (j localJob, err error) {
	if j.models, err = c.models(); err != nil {
		return j, err
	}
	if j.models.Coder.URL == "" || j.models.Coder.Model == "" {
		return j, errors.New("no model is named: give --model-url and --model, and --model-key where it needs one, or " +
			"SIA_MODEL_URL, SIA_MODEL and SIA_MODEL_KEY")
	}
	j.models.Coder.Name = cmp.Or(j.models.Coder.Name, j.models.Coder.Model) // what people know it by
	if j.title, j.body, err = readIssue(c.Issue); err != nil {
		return j, err
	}
	if err := c.findCommit(e.Ctx, &j); err != nil {
		return j, err
	}
	return j, c.findCommands(e.Ctx, &j)
}

// readIssue reads an issue from a file, from standard input or from the words themselves.
func readIssue(from string) (title, body string, err error) {
	text := []byte(from)
	if st, statErr := os.Stat(from); from == "-" {
		text, err = io.ReadAll(io.LimitReader(os.Stdin, 1<<20))
	} else if statErr == nil && !st.IsDir() {
		text, err = os.ReadFile(from)
	} else if !strings.ContainsAny(from, " \n") && strings.HasSuffix(from, ".md") {
		return "", "", fmt.Errorf("--issue %s: there is no such file", from)
	}
	if err != nil {
		return "", "", fmt.Errorf("read the issue: %w", err)
	}
	title, body, _ = strings.Cut(strings.TrimSpace(string(text)), "\n")
	title = strings.TrimSpace(strings.TrimLeft(title, "# "))
	if title == "" {
		return "", "", errors.New("--issue is empty: its first line says what to do")
	}
	return title, strings.TrimSpace(body), nil
}

var notInBranches = regexp.MustCompile(`[^a-z0-9]+`)

// findCommit finds the repository, the commit to begin at and a name for the result.
func (c *runCmd) findCommit(ctx context.Context, j *localJob) error {
	line := func(args ...string) (string, error) {
		out, err := j.git.run(ctx, args...)
		return strings.TrimSpace(string(out)), err
	}
	j.git = localGit{c.Repo}
	top, err := line("rev-parse", "--show-toplevel")
	if err != nil {
		return fmt.Errorf("--repo %s is no clone of a Git repository with files to work on: clone one, or run git init "+
			"there and commit what there is", c.Repo)
	}
	j.git, j.name = localGit{top}, notInBranches.ReplaceAllString(strings.ToLower(filepath.Base(top)), "-")
	from := cmp.Or(c.Base, "HEAD")
	if j.base, err = line("rev-parse", "--verify", "--quiet", "--end-of-options", from+"^{commit}"); err != nil {
		return fmt.Errorf("%s is no commit of %s: commit something first, or name a branch with --base", from, top)
	}
	if j.baseName, err = line("symbolic-ref", "--short", "--quiet", "HEAD"); err != nil || c.Base != "" {
		j.baseName = "main"
	}
	taken := func(name string) bool {
		_, err := line("rev-parse", "--verify", "--quiet", "refs/heads/"+name)
		return err == nil
	}
	if j.branch = c.Branch; j.branch == "" {
		slug := strings.Trim(notInBranches.ReplaceAllString(strings.ToLower(j.title), "-"), "-")
		name := "sia/" + cmp.Or(strings.Trim(slug[:min(len(slug), 40)], "-"), "result")
		j.branch = name
		for n := 2; taken(j.branch); n++ {
			j.branch = fmt.Sprintf("%s-%d", name, n)
		}
	}
	if _, err := line("check-ref-format", "--branch", j.branch); err != nil {
		return fmt.Errorf("--branch %s: Git takes no such name", j.branch)
	}
	if taken(j.branch) {
		return fmt.Errorf("--branch %s: the branch exists; to go on from it, give it as --base and leave out --branch",
			j.branch)
	}
	return nil
}

// findCommands finds how the repository is prepared and tested: as told, as its settings say, or as its files do.
func (c *runCmd) findCommands(ctx context.Context, j *localJob) error {
	j.label = sia.DefaultSettings().Label
	own, absent := j.git.run(ctx, "show", j.base+":"+config.Path)
	if absent == nil {
		set, err := config.Parse(config.Path, own)
		if err != nil {
			return err
		}
		j.label = set.Label
		j.test, j.why, j.setup, j.required = set.Agent.Test, config.Path, set.Agent.Setup, set.Checks.Required
		j.services = set.Agent.Services
	}
	if err := c.findSubmodules(ctx, j); err != nil {
		return err
	}
	names, err := j.git.run(ctx, "ls-tree", "-z", j.base)
	if err != nil {
		return err
	}
	found := project.Look(treeNames(names), func(path string) ([]byte, bool) {
		text, err := j.git.run(ctx, "show", j.base+":"+path)
		return text, err == nil && len(text) <= project.MaxFile
	})
	if j.test == "" {
		j.test, j.why = found.Test.Line, found.Test.Why
	}
	if j.setup == nil {
		for _, s := range found.Setup {
			j.setup = append(j.setup, s.Line)
		}
	}
	if j.hosts = c.SetupHosts; j.hosts == nil {
		j.hosts = found.Hosts()
	}
	if c.Test != "" {
		j.test, j.why = c.Test, "--test"
	}
	if c.Setup != nil {
		j.setup = c.Setup
	}
	if j.test == "" {
		return fmt.Errorf("nothing in %s says how it is tested, and only tests say whether the work is right: give the "+
			"command with --test, such as --test \"make test\"", j.git.dir)
	}
	if absent != nil {
		j.settings, err = yaml.Marshal(map[string]any{
			"agent":  map[string]any{"test": j.test, "setup": slices.Concat([]string{}, j.setup)},
			"budget": map[string]any{"task": c.Credits},
			"sia":    map[string]any{"max_approaches": c.Approaches},
			"checks": map[string]any{"settle": "0s"},
		})
	}
	return err
}

// findSubmodules finds what is a commit of another repository.
func (c *runCmd) findSubmodules(ctx context.Context, j *localJob) error {
	entries, err := j.git.run(ctx, "ls-tree", "-r", "-z", j.base)
	for entry := range bytes.SplitSeq(entries, []byte{0}) {
		if about, name, ok := bytes.Cut(entry, []byte{'\t'}); ok && bytes.Contains(about, []byte(" commit ")) {
			j.submodules = append(j.submodules, string(name))
		}
	}
	return err
}

// treeNames are the names of a tree, of folders with a slash, as git ls-tree -z prints it.
func treeNames(tree []byte) (names []string) {
	for entry := range bytes.SplitSeq(tree, []byte{0}) {
		about, name, ok := bytes.Cut(entry, []byte{'\t'})
		switch {
		case !ok:
		case bytes.Contains(about, []byte(" tree ")):
			names = append(names, string(name)+"/")
		default:
			names = append(names, string(name))
		}
	}
	return names
}

// budget is what the run may spend, as people read it.
func (c *runCmd) budget() string { return sia.Credits(c.Credits * int(sia.Credit)).String() }

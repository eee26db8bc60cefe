package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/replay"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/config"
	"github.com/sia-bot/sia/sia/project"
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

// withDefaults returns the command with defaults for flags that were not parsed.
func (c runCmd) withDefaults() *runCmd {
	c.TestWithin, c.Output = cmp.Or(c.TestWithin, 15*time.Minute), cmp.Or(c.Output, "text")
	return &c
}

// Help returns the text of `sia run --help` below the first line.
func (*runCmd) Help() string {
	return `The work is done in a copy. The clone gets one new branch; what is checked out stays as it is.
The exit status is 0 if the test command passed on the result, and 1 if not.`
}

// localJob is the work of a run.
type localJob struct {
	git         localGit
	name        string // of the repository
	base        string // commit
	baseName    string // base branch in the simulated repository
	branch      string // of the result
	title, body string
	why         string            // source of the test command
	check       string            // what the check runs, in words
	isDetected  bool              // whether the test command is from the repository's files, not from the user
	others      []project.Command // test commands of the repository's other languages
	// judge replaces the test command for a replay task; nil otherwise. It judges the files that lay writes into a
	// folder.
	judge       func(ctx context.Context, lay func(dir string) error) (replay.Judgement, error)
	policies    *policies.Set // policies of the run; nil: those of the repository
	hosts       []string
	settings    sia.Settings // of the repository, overridden by flags
	models      app.ModelsConfig
	submodules  []string // paths
	uncommitted bool     // whether files differ from the checked-out commit, or are untracked

	finished string // base of a stopped run that left the base as a finished attempt at this issue; empty: none
}

// Run works on one issue.
func (c *runCmd) Run(e *cli.Env) error {
	out, err := c.run(e)
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

// run works on the issue, and prints the result as text.
func (c *runCmd) run(e *cli.Env) (runResult, error) {
	none := runResult{Attempts: []runAttempt{}, Credits: "0"}
	job, err := c.job(e)
	if err != nil {
		return none, err
	}
	none.Base, none.Test = job.base, job.settings.Agent.Test
	r, err := c.start(e, job)
	if err != nil {
		return none, err
	}
	out, err := r.play()
	if err = errors.Join(err, r.Close()); out.Base == "" { // no result
		return none, err
	}
	if c.Output != "json" {
		r.show(out)
	}
	return out, err
}

// job determines the work, and returns errors for impossible work before anything is started.
func (c *runCmd) job(e *cli.Env) (j localJob, err error) {
	if j.models, err = c.models(); err != nil {
		return j, err
	}
	if j.models.Coder.URL == "" || j.models.Coder.Model == "" {
		return j, cli.Usage("no model is named: give --model-url and --model, and --model-key where it needs one, or " +
			"SIA_MODEL_URL, SIA_MODEL and SIA_MODEL_KEY")
	}
	j.models.Coder.Name = cmp.Or(j.models.Coder.Name, j.models.Coder.Model) // name that users know
	if j.title, j.body, err = readIssue(c.Issue, e.Stdin()); err != nil {
		return j, err
	}
	if err := c.findCommit(e.Ctx, &j); err != nil {
		return j, err
	}
	return j, c.findSettings(e.Ctx, &j)
}

// GitHub's limits, in characters; a file is read up to maxIssueFile bytes.
const (
	maxIssueTitle = 256
	maxIssueBody  = 65_536
	maxIssueFile  = 4 * maxIssueBody
	maxRepoName   = 100
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

var notInBranches = regexp.MustCompile(`[^a-z0-9]+`)

// findCommit determines the repository, the base commit and the name of the result's branch.
func (c *runCmd) findCommit(ctx context.Context, j *localJob) error {
	line := func(args ...string) (string, error) {
		out, err := j.git.run(ctx, args...)
		return strings.TrimSuffix(string(out), "\n"), err
	}
	j.git = localGit{dir: c.Repo}
	top, err := line("rev-parse", "--show-toplevel")
	if err != nil {
		return c.notACloneError(err)
	}
	if format, err := line("rev-parse", "--show-object-format"); err == nil && format != "sha1" {
		return cli.Usage("--repo %s has %s object names, and SIA reads SHA-1 alone: git init --object-format=sha1 makes a "+
			"repository into which you can copy the files", top, format)
	}
	name := notInBranches.ReplaceAllString(strings.ToLower(filepath.Base(top)), "-")
	j.git, j.name = localGit{dir: top}, name[:min(len(name), maxRepoName)]
	from := cmp.Or(c.Base, "HEAD")
	if j.base, err = line("rev-parse", "--verify", "--quiet", "--end-of-options", from+"^{commit}"); err != nil {
		none := fmt.Sprintf("%s is no commit of %s: commit something first, or name a branch with --base", from, top)
		if c.Base != "" {
			return cli.Usage("%s", none)
		}
		return errors.New(none)
	}
	if changed, err := line("status", "--porcelain"); err == nil {
		j.uncommitted = changed != ""
	}
	j.finished = j.finishedFrom(ctx, c.Base)
	j.baseName, err = line("symbolic-ref", "--short", "--quiet", "HEAD")
	if first, _, _ := strings.Cut(j.baseName, "/"); err != nil || c.Base != "" || first == "sia" { // SIA's own there
		j.baseName = "main"
	}
	if j.branch = c.Branch; j.branch == "" {
		slug := strings.Trim(notInBranches.ReplaceAllString(strings.ToLower(j.title), "-"), "-")
		j.branch = j.git.freeBranch(ctx, "sia/"+cmp.Or(strings.Trim(slug[:min(len(slug), 40)], "-"), "result"))
	}
	if _, err := line("check-ref-format", "--branch", j.branch); err != nil {
		return cli.Usage("--branch %s: Git takes no such name", j.branch)
	}
	if j.git.hasBranch(ctx, j.branch) {
		return cli.Usage("--branch %s: the branch exists; to go on from it, give it as --base and leave out --branch",
			j.branch)
	}
	// A dry run: Git reports whether the branch can be created, which a branch named sia would prevent.
	try := fmt.Sprintf("start\ncreate refs/heads/%s %s\nprepare\nabort\n", j.branch, j.base)
	if _, err := j.git.runWith(ctx, nil, try, "update-ref", "--stdin"); err != nil {
		if notWritable.MatchString(err.Error()) {
			return fmt.Errorf("the Git folder of %s can't be written, and the result is a branch in it, so nothing was begun: "+
				"%w", top, err)
		}
		return fmt.Errorf("the branch %s for the result can't be made, so nothing was begun; give another name with "+
			"--branch: %w", j.branch, err)
	}
	return nil
}

// notWritable matches git's words for files that it may not write; localGit has it speak English.
var notWritable = regexp.MustCompile(`Permission denied|Read-only file system|insufficient permission|` +
	`unable to create directory`)

// hasBranch reports whether a branch exists.
func (g localGit) hasBranch(ctx context.Context, name string) bool {
	_, err := g.run(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+name)
	return err == nil
}

// freeBranch returns an unused branch name: want, or want with the lowest free number appended.
func (g localGit) freeBranch(ctx context.Context, want string) string {
	name := want
	for n := 2; g.hasBranch(ctx, name); n++ {
		name = fmt.Sprintf("%s-%d", want, n)
	}
	return name
}

// notACloneError returns what is wrong with --repo if git finds no work tree there.
func (c *runCmd) notACloneError(err error) error {
	words := err.Error()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("git is not installed, or not in PATH: install it (Debian, Ubuntu: apt-get install git)")
	case strings.Contains(words, "must be run in a work tree"):
		return cli.Usage("--repo %s is a bare repository, which has no files to work on: clone it, and name the clone",
			c.Repo)
	case strings.Contains(words, "not a git repository"), strings.Contains(words, "cannot change to"):
		return cli.Usage("--repo %s is no clone of a Git repository with files to work on: clone one, or run git init "+
			"there and commit what there is", c.Repo)
	}
	return fmt.Errorf("--repo %s can't be read: %w", c.Repo, err)
}

// findSettings determines setup, tests and budget, from the flags, the repository's settings, or its files.
func (c *runCmd) findSettings(ctx context.Context, j *localJob) error {
	j.settings = sia.DefaultSettings()
	if own, absent := j.git.run(ctx, "show", j.base+":"+config.Path); absent == nil {
		var err error
		if j.settings, err = config.Parse(config.Path, own); err != nil {
			return fmt.Errorf("%w\nThat is the file of the commit %.9s; commit it again when it is right", err, j.base)
		}
	}
	if err := c.complete(ctx, j); err != nil {
		return err
	}
	if j.check = j.settings.Agent.Test; j.check == "" {
		return fmt.Errorf("nothing in %s says how it is tested, and only tests say whether the work is right: give the "+
			"command with --test, such as --test \"make test\"", j.git.dir)
	}
	return nil
}

// complete overrides a job's settings with the flags, and fills in what is still missing from the repository's files.
func (c *runCmd) complete(ctx context.Context, j *localJob) error {
	set := &j.settings
	tree, err := j.git.run(ctx, "ls-tree", "-r", "-t", "-z", j.base)
	if err != nil {
		return err
	}
	names, submodules := treeNames(tree)
	j.submodules = submodules
	found := project.Look(func(dir string) []string { return names[dir] }, func(path string) ([]byte, bool) {
		text, err := j.git.run(ctx, "show", j.base+":"+path)
		return text, err == nil && len(text) <= project.MaxFile
	})
	switch {
	case c.Test != "":
		set.Agent.Test, j.why = c.Test, "--test"
	case set.Agent.Test != "":
		j.why = config.Path
	default:
		set.Agent.Test, j.why, j.isDetected = found.Test.Line, found.Test.Why, true
		for _, other := range found.Others {
			if !strings.HasPrefix(other.Line, "make ") { // it may run the same tests again
				j.others = append(j.others, other)
			}
		}
	}
	switch {
	case c.Setup != nil:
		set.Agent.Setup = c.Setup
	case set.Agent.Setup == nil:
		for _, s := range found.Setup {
			set.Agent.Setup = append(set.Agent.Setup, s.Line)
		}
	}
	if j.hosts = c.SetupHosts; j.hosts == nil {
		j.hosts = found.Hosts()
	}
	set.Budget.Task = cmp.Or(c.Credits, set.Budget.Task)
	set.Budget.RepoPerDay = max(set.Budget.RepoPerDay, set.Budget.Task) // may be lower than that of one issue
	set.Budget.InstallationPerDay = max(set.Budget.InstallationPerDay, set.Budget.Task)
	set.SIA.MaxApproaches = cmp.Or(c.Approaches, set.SIA.MaxApproaches)
	set.Checks.Settle = 0 // no check is created late
	set.Memory.Branch = memoryBranch
	return nil
}

// treeNames returns, from the output of git ls-tree -r -t -z, the names in each folder of a tree, with a slash after
// folders, and the paths of submodules. The names of the top, ".", include the paths of all Go modules.
func treeNames(tree []byte) (names map[string][]string, submodules []string) {
	names = map[string][]string{}
	for entry := range strings.SplitSeq(string(tree), "\x00") {
		about, name, ok := strings.Cut(entry, "\t")
		if !ok {
			continue
		}
		kind, dir := strings.Fields(about)[1], path.Dir(name)
		switch kind {
		case "commit":
			submodules = append(submodules, name)
		case "tree":
			names[dir] = append(names[dir], path.Base(name)+"/")
			continue
		}
		names[dir] = append(names[dir], path.Base(name))
		if dir != "." && path.Base(name) == "go.mod" {
			names["."] = append(names["."], name)
		}
	}
	return names, submodules
}

// budget describes the budget of the run.
func (c *runCmd) budget(j localJob) string {
	if c.Free && j.models.Coder.Price == (llm.Price{}) {
		return "no budget, as --free says"
	}
	return fmt.Sprintf("budget %s credits", sia.Credits(j.settings.Budget.Task*int(sia.Credit)))
}

package localrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/cmd/internal/localgit"
	"github.com/sia-bot/sia/lab/replay"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/config"
	"github.com/sia-bot/sia/sia/project"
)

// job is the work of a run.
type job struct {
	opts       Options
	git        localgit.Repo
	name       string            // of the repository
	base       string            // commit
	baseName   string            // base branch in the simulated repository
	branch     string            // of the result
	why        string            // source of the test command
	check      string            // what the check runs, in words
	isDetected bool              // whether the test command is from the repository's files, not from the user
	others     []project.Command // test commands of the repository's other languages
	// judge replaces the test command for a replay task; nil otherwise. It judges the files that lay writes into a
	// folder.
	judge       func(ctx context.Context, lay func(dir string) error) (replay.Judgement, error)
	policies    *policies.Set // policies of the run; nil: those of the repository
	settings    sia.Settings  // of the repository, overridden by options
	submodules  []string      // paths
	uncommitted bool          // whether files differ from the checked-out commit, or are untracked

	finishedBase string // base of a stopped run that left the base as a finished attempt at this issue; empty: none
}

// newJob determines the work, and returns errors for impossible work before anything is started.
func newJob(ctx context.Context, o Options) (j job, err error) {
	j.opts = o
	if err := j.findCommit(ctx); err != nil {
		return j, err
	}
	return j, j.findSettings(ctx)
}

// maxRepoName is GitHub's limit for the name of a repository, in characters.
const maxRepoName = 100

var notInBranches = regexp.MustCompile(`[^a-z0-9]+`)

// findCommit determines the repository, the base commit and the name of the result's branch.
func (j *job) findCommit(ctx context.Context) error {
	j.git = localgit.At(j.opts.Repo)
	top, err := j.git.Line(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return j.notACloneError(err)
	}
	if format, err := j.git.Line(ctx, "rev-parse", "--show-object-format"); err == nil && format != "sha1" {
		return cli.Usage("--repo %s has %s object names, and SIA reads SHA-1 alone: git init --object-format=sha1 makes a "+
			"repository into which you can copy the files", top, format)
	}
	name := notInBranches.ReplaceAllString(strings.ToLower(filepath.Base(top)), "-")
	j.git, j.name = localgit.At(top), name[:min(len(name), maxRepoName)]
	from := cmp.Or(j.opts.Base, "HEAD")
	j.base, err = j.git.Line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", from+"^{commit}")
	if err != nil {
		none := fmt.Sprintf("%s is no commit of %s: commit something first, or name a branch with --base", from, top)
		if j.opts.Base != "" {
			return cli.Usage("%s", none)
		}
		return errors.New(none)
	}
	changed, _ := j.git.Line(ctx, "status", "--porcelain") // it only makes a difference to what is printed
	j.uncommitted = changed != ""
	j.finishedBase = j.findFinished(ctx)
	j.baseName, err = j.git.Line(ctx, "symbolic-ref", "--short", "--quiet", "HEAD")
	if first, _, _ := strings.Cut(j.baseName, "/"); err != nil || j.opts.Base != "" || first == "sia" { // SIA's own there
		j.baseName = "main"
	}
	if j.branch = j.opts.Branch; j.branch == "" {
		slug := strings.Trim(notInBranches.ReplaceAllString(strings.ToLower(j.opts.Title), "-"), "-")
		j.branch = j.git.FreeBranch(ctx, "sia/"+cmp.Or(strings.Trim(slug[:min(len(slug), 40)], "-"), "result"))
	}
	if _, err := j.git.Line(ctx, "check-ref-format", "--branch", j.branch); err != nil {
		return cli.Usage("--branch %s: Git takes no such name", j.branch)
	}
	if j.git.HasBranch(ctx, j.branch) {
		return cli.Usage("--branch %s: the branch exists; to go on from it, give it as --base and leave out --branch",
			j.branch)
	}
	// A dry run: Git reports whether the branch can be created, which a branch named sia would prevent.
	try := fmt.Sprintf("start\ncreate refs/heads/%s %s\nprepare\nabort\n", j.branch, j.base)
	if _, err := j.git.RunWith(ctx, nil, try, "update-ref", "--stdin"); err != nil {
		if notWritable.MatchString(err.Error()) {
			return fmt.Errorf("the Git folder of %s can't be written, and the result is a branch in it, so nothing was begun: "+
				"%w", top, err)
		}
		return fmt.Errorf("the branch %s for the result can't be made, so nothing was begun; give another name with "+
			"--branch: %w", j.branch, err)
	}
	return nil
}

// notWritable matches git's words for files that it may not write; [localgit] has it speak English.
var notWritable = regexp.MustCompile(`Permission denied|Read-only file system|insufficient permission|` +
	`unable to create directory`)

// notACloneError returns what is wrong with --repo if git finds no work tree there.
func (j *job) notACloneError(err error) error {
	words := err.Error()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("git is not installed, or not in PATH: install it (Debian, Ubuntu: apt-get install git)")
	case strings.Contains(words, "must be run in a work tree"):
		return cli.Usage("--repo %s is a bare repository, which has no files to work on: clone it, and name the clone",
			j.opts.Repo)
	case strings.Contains(words, "not a git repository"), strings.Contains(words, "cannot change to"):
		return cli.Usage("--repo %s is no clone of a Git repository with files to work on: clone one, or run git init "+
			"there and commit what there is", j.opts.Repo)
	}
	return fmt.Errorf("--repo %s can't be read: %w", j.opts.Repo, err)
}

// findSettings determines setup, tests and budget, from the options, the repository's settings, or its files.
func (j *job) findSettings(ctx context.Context) error {
	j.settings = sia.DefaultSettings()
	if own, absent := j.git.Run(ctx, "show", j.base+":"+config.Path); absent == nil {
		var err error
		if j.settings, err = config.Parse(config.Path, own); err != nil {
			return fmt.Errorf("%w\nThat is the file of the commit %.9s; commit it again when it is right", err, j.base)
		}
	}
	if err := j.complete(ctx); err != nil {
		return err
	}
	if j.check = j.settings.Agent.Test; j.check == "" {
		return fmt.Errorf("nothing in %s says how it is tested, and only tests say whether the work is right: give the "+
			"command with --test, such as --test \"make test\"", j.git.Dir)
	}
	return nil
}

// complete overrides the settings with the options, and fills in what is still missing from the repository's files.
func (j *job) complete(ctx context.Context) error {
	set := &j.settings
	tree, err := j.git.Run(ctx, "ls-tree", "-r", "-t", "-z", j.base)
	if err != nil {
		return err
	}
	names, submodules := treeNames(tree)
	j.submodules = submodules
	found := project.Look(func(dir string) []string { return names[dir] }, func(path string) ([]byte, bool) {
		text, err := j.git.Run(ctx, "show", j.base+":"+path)
		return text, err == nil && len(text) <= project.MaxFile
	})
	switch {
	case j.opts.Test != "":
		set.Agent.Test, j.why = j.opts.Test, "--test"
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
	case j.opts.Setup != nil:
		set.Agent.Setup = j.opts.Setup
	case set.Agent.Setup == nil:
		for _, s := range found.Setup {
			set.Agent.Setup = append(set.Agent.Setup, s.Line)
		}
	}
	if j.opts.SetupHosts == nil {
		j.opts.SetupHosts = found.Hosts()
	}
	set.Budget.Task = cmp.Or(j.opts.Credits, set.Budget.Task)
	set.Budget.RepoPerDay = max(set.Budget.RepoPerDay, set.Budget.Task) // may be lower than that of one issue
	set.Budget.InstallationPerDay = max(set.Budget.InstallationPerDay, set.Budget.Task)
	set.SIA.MaxApproaches = cmp.Or(j.opts.Approaches, set.SIA.MaxApproaches)
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

// deniedEnv returns the variables that the repository's command asks for and does not get.
func (j *job) deniedEnv() []string {
	if j.settings.Agent.Kind != "command" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(j.settings.Agent.Env), func(name string) bool {
		return slices.Contains(j.opts.AgentEnv, name)
	})
}

// budget describes the budget of the run.
func (j *job) budget() string {
	if j.opts.Free && j.opts.Models.Coder.Price == (llm.Price{}) {
		return "no budget, as --free says"
	}
	return fmt.Sprintf("budget %s credits", sia.Credits(j.settings.Budget.Task*int(sia.Credit)))
}

// Package localgit runs the git command in a repository on this machine, whatever the environment and the configuration
// say. [Repo] is a person's repository, or one that SIA made. What a server does with git is in gitops.
package localgit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/work"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia/tamper"
)

// Repo is a repository.
type Repo struct {
	Dir string // its folder, or one in it
	// own reports whether SIA made the repository. Neither the configuration of the user and the system nor their hooks
	// apply to it: a hook would run outside of the sandbox, even one that a change adds if core.hooksPath is relative.
	own bool
}

// At returns the repository that a folder is in.
func At(dir string) Repo { return Repo{Dir: dir} }

// Own returns a repository that SIA made.
func Own(dir string) Repo { return Repo{dir, true} }

// selectsRepository reports whether an environment variable makes git use another repository than that of its folder.
// Hooks set such variables, and so do aliases in a linked work tree.
// https://git-scm.com/docs/git#_environment_variables
func selectsRepository(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	switch name {
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_NAMESPACE":
		return true
	}
	return false
}

// environment returns the environment of git, in English, since its output is parsed. Commits are read as they are,
// without what `git replace` puts in their place, and SIA's own repositories have the formats that gitops reads.
func (r Repo) environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return selectsRepository(v) || r.own && strings.HasPrefix(v, "GIT_")
	})
	env = append(env, "LC_ALL=C", "GIT_NO_REPLACE_OBJECTS=1")
	if r.own {
		env = append(env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_DEFAULT_HASH=sha1",
			"GIT_DEFAULT_REF_FORMAT=files")
	}
	return env
}

// command returns git with arguments, additional environment variables and standard input, if any.
func (r Repo) command(ctx context.Context, env []string, stdin io.Reader, args ...string) *exec.Cmd {
	line := []string{"-C", r.Dir}
	if r.own { // safe.bareRepository=explicit refuses bare ones otherwise
		line = append(line, "-c", "safe.bareRepository=all")
	}
	cmd := exec.CommandContext(ctx, "git", append(line, args...)...)
	cmd.Env, cmd.Stdin = append(r.environment(), env...), stdin
	return cmd
}

// Run runs git and returns its output.
func (r Repo) Run(ctx context.Context, args ...string) ([]byte, error) {
	return r.RunWith(ctx, nil, "", args...)
}

// Line runs git and returns its output without the newline at the end.
func (r Repo) Line(ctx context.Context, args ...string) (string, error) {
	out, err := r.Run(ctx, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// RunWith runs git with additional environment variables and standard input.
func (r Repo) RunWith(ctx context.Context, env []string, stdin string, args ...string) ([]byte, error) {
	out, err := r.command(ctx, env, strings.NewReader(stdin), args...).Output()
	return out, gitError(args[0], err)
}

// gitError adds git's messages to an error of a git command.
func gitError(command string, err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return fmt.Errorf("git %s: %w", command, err)
	}
	return nil
}

// CopyObjects copies the objects that are listed, one name a line, to another repository. In contrast to a fetch or a
// push, it uses no history, transport, hook, or refs.
func (r Repo) CopyObjects(ctx context.Context, listed string, to Repo) error {
	pack := r.command(ctx, nil, strings.NewReader(listed), "pack-objects", "-q", "--stdout")
	var said bytes.Buffer
	pack.Stderr = &said
	packed, err := pack.StdoutPipe()
	if err == nil {
		err = pack.Start()
	}
	if err != nil {
		return gitError("pack-objects", err)
	}
	_, failed := to.command(ctx, nil, packed, "index-pack", "--stdin").Output()
	packed.Close() // otherwise git may wait for a reader
	if err := pack.Wait(); err != nil {
		return fmt.Errorf("git pack-objects: %w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	return gitError("index-pack", failed)
}

// Take copies a commit of another repository, and what its base does not contain. It changes no ref. The base is
// copied, too, if it was removed since the run began.
func (r Repo) Take(ctx context.Context, from Repo, commit, base string) error {
	args := []string{"rev-list", "--objects", "--no-object-names", "--end-of-options", commit}
	if _, gone := r.Run(ctx, "cat-file", "-e", base); gone == nil {
		args = append(args, "^"+base)
	}
	listed, err := from.Run(ctx, args...)
	if err != nil || len(listed) == 0 {
		return err
	}
	return from.CopyObjects(ctx, string(listed), r)
}

// Objects lists a commit and the objects of its tree, one name a line. A partial clone may lack files: git fetches
// those together when they are copied.
func (r Repo) Objects(ctx context.Context, commit string) (string, error) {
	root, err := r.Run(ctx, "rev-parse", "--verify", "--end-of-options", commit+"^{tree}")
	if err != nil {
		return "", err
	}
	tree, err := r.Run(ctx, "ls-tree", "-r", "-t", "-z", "--full-tree", commit)
	if err != nil {
		return "", err
	}
	var all strings.Builder
	all.WriteString(commit + "\n" + string(root))
	for entry := range strings.SplitSeq(string(tree), "\x00") {
		about, _, _ := strings.Cut(entry, "\t")
		if f := strings.Fields(about); len(f) == 3 && f[1] != "commit" { // else a submodule
			all.WriteString(f[2] + "\n")
		}
	}
	return all.String(), nil
}

// Ignored returns the patterns that a person ignores outside of the commits: those of core.excludesFile, and then those
// of info/exclude, which outweigh them (https://git-scm.com/docs/gitignore#_description).
func (r Repo) Ignored(ctx context.Context) (patterns []byte, err error) {
	configured, err := r.Run(ctx, "config", "--type=path", "--default=", "--get", "core.excludesFile")
	if err != nil {
		return nil, err
	}
	own, err := r.Run(ctx, "rev-parse", "--git-path", "info/exclude")
	if err != nil {
		return nil, err
	}
	files := []string{strings.TrimSuffix(string(configured), "\n"), strings.TrimSuffix(string(own), "\n")}
	if files[0] == "" {
		home, _ := os.UserHomeDir()
		files[0] = filepath.Join(cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "git", "ignore")
	}
	for _, name := range files {
		if !filepath.IsAbs(name) {
			name = filepath.Join(r.Dir, name)
		}
		if text, err := os.ReadFile(name); err == nil { // git leaves out what it can't read, with a warning at most
			patterns = append(append(patterns, text...), '\n')
		}
	}
	return patterns, nil
}

// HasBranch reports whether a branch exists.
func (r Repo) HasBranch(ctx context.Context, name string) bool {
	_, err := r.Run(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+name)
	return err == nil
}

// FreeBranch returns an unused branch name: want, or want with the lowest free number appended.
func (r Repo) FreeBranch(ctx context.Context, want string) string {
	name := want
	for n := 2; r.HasBranch(ctx, name); n++ {
		name = fmt.Sprintf("%s-%d", want, n)
	}
	return name
}

// Commits returns the commits after base up to head, oldest first, each after its parent, as pairs of parent and
// commit. Merges are left out.
func (r Repo) Commits(ctx context.Context, base, head string) ([][2]string, error) {
	out, err := r.Run(ctx, "rev-list", "--reverse", "--no-merges", "--parents", "--end-of-options", base+".."+head)
	if err != nil {
		return nil, err
	}
	var pairs [][2]string
	for line := range strings.Lines(string(out)) {
		if commit, parent, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			pairs = append(pairs, [2]string{parent, commit})
		}
	}
	return pairs, nil
}

// Commit returns the id of a named commit.
func (r Repo) Commit(ctx context.Context, name string) (string, error) {
	id, err := r.Line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		if _, err := r.Run(ctx, "rev-parse", "--git-dir"); errors.Is(err, exec.ErrNotFound) {
			return "", errors.New("git is not installed, or not in PATH: install it (Debian, Ubuntu: apt-get install git)")
		} else if err != nil {
			return "", fmt.Errorf("%s is no clone of a Git repository; name one with --repo", r.Dir)
		}
		return "", fmt.Errorf("%s is no commit of %s; git log lists those that there are", name, r.Dir)
	}
	return id, nil
}

// CommitEntries commits entries in the format of git ls-tree -z on top of the commit over, together with its files;
// without a commit, only the entries. index names the index file, which need not exist.
func (r Repo) CommitEntries(ctx context.Context, index, over, entries, message string) (commit string, err error) {
	env := []string{"GIT_INDEX_FILE=" + index, "GIT_AUTHOR_NAME=SIA", "GIT_AUTHOR_EMAIL=sia@localhost",
		"GIT_COMMITTER_NAME=SIA", "GIT_COMMITTER_EMAIL=sia@localhost"}
	git := func(stdin string, args ...string) (said string) { // does nothing after the first failure
		if err == nil {
			var out []byte
			out, err = r.RunWith(ctx, env, stdin, args...)
			said = strings.TrimSpace(string(out))
		}
		return said
	}
	parent := []string{}
	if over == "" {
		git("", "read-tree", "--empty")
	} else {
		git("", "read-tree", over)
		parent = []string{"-p", over}
	}
	git(entries, "update-index", "-z", "--index-info")
	tree := git("", "write-tree")
	commit = git(message, append([]string{"commit-tree", tree}, parent...)...)
	return commit, err
}

// Changes returns the differences between two commits, as SIA reads them for attempts.
func (r Repo) Changes(ctx context.Context, base, head string) ([]tamper.Change, error) {
	history, err := gitops.OpenHistory(r.Dir)
	if err != nil {
		return nil, err
	}
	defer history.Close()
	diff, err := history.Diff(ctx, base, head)
	if err != nil {
		return nil, err
	}
	changed, err := history.Changes(ctx, base, head, math.MaxInt)
	if err != nil {
		return nil, err
	}
	was := map[string]string{}
	for _, c := range changed {
		was[c.Path] = c.Was.ID
	}
	workflows, err := r.Run(ctx, "ls-tree", "-r", "-z", "--name-only", base, ".github/workflows/")
	if err != nil {
		return nil, err
	}
	names := strings.Split(strings.TrimSuffix(string(workflows), "\x00"), "\x00")
	return work.TamperChanges(diff, names, func(path string, most int64) ([]byte, error) {
		if id := was[path]; id != "" {
			return history.Blob(id, most)
		}
		out, err := r.Run(ctx, "cat-file", "blob", base+":"+path)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
		}
		return out, nil
	})
}
